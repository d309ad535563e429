package io.github.murmuration.pravega.spark;

import io.pravega.client.batch.SegmentIterator;
import io.pravega.client.stream.Serializer;
import io.pravega.client.stream.TruncatedDataException;
import java.nio.ByteBuffer;

/** Finds event boundaries by reading over the events: Pravega 0.13 has no server-side way. */
record SkipReader(PravegaConnection connection, boolean failOnDataLoss) implements ReadBudget.Boundaries {
    @Override
    public long offset(SegmentSlice slice, long atLeast, long events, long bytes) {
        long limit = bytes >= slice.bytes() ? slice.end() : slice.start() + bytes;
        long end = slice.start();
        try (SegmentIterator<Boolean> iterator = connection.read(slice, new Skipping(), failOnDataLoss)) {
            for (long read = 0; read < events && iterator.hasNext() && (read < atLeast || end < limit); read++) {
                iterator.next();
                long offset = iterator.getOffset();
                if (read >= atLeast && offset > limit) {
                    return end;
                }
                end = offset;
            }
            return iterator.hasNext() ? end : slice.end();
        } catch (TruncatedDataException truncated) {
            throw PravegaException.dataLoss(slice.segment(), truncated);
        }
    }

    private static final class Skipping implements Serializer<Boolean> {
        @Override
        public ByteBuffer serialize(Boolean value) {
            throw new UnsupportedOperationException("events are only skipped");
        }

        @Override
        public Boolean deserialize(ByteBuffer event) {
            return Boolean.TRUE;
        }
    }
}
