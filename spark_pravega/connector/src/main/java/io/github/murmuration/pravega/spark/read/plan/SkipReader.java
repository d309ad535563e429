// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.read.segment.RemainingEvents;
import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import io.pravega.client.batch.SegmentIterator;
import io.pravega.client.stream.Serializer;
import io.pravega.client.stream.TruncatedDataException;
import java.nio.ByteBuffer;

/**
 * Finds event boundaries: where the tail was in the course of time, or else by reading over the events. Pravega 0.13
 * has no server-side way.
 */
record SkipReader(PravegaConnection connection, boolean failOnDataLoss, SeenEvents seen)
        implements ReadBudget.Boundaries {
    @Override
    public long leastBytes() {
        return seen.leastBytes();
    }

    @Override
    public long offset(SegmentSlice slice, long atLeast, long events, long bytes) {
        long limit = bytes >= slice.bytes() ? slice.end() : slice.start() + bytes;
        long known = events == ReadBudget.UNLIMITED ? seen.lastBoundary(slice, limit) : slice.start();
        if (known == slice.start()) {
            return read(slice, atLeast, events, limit);
        }
        boolean isEnough = known - slice.start() >= bytes / 2;
        return isEnough ? known : read(new SegmentSlice(slice.segment(), known, slice.end()), 0, events, limit);
    }

    private long read(SegmentSlice slice, long atLeast, long events, long limit) {
        long end = slice.start();
        long read = 0;
        try (SegmentIterator<Boolean> iterator =
                RemainingEvents.of(connection, slice, new Skipping(), failOnDataLoss)) {
            for (; read < events && iterator.hasNext() && (read < atLeast || end < limit); read++) {
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
        } finally {
            seen.counted(read, end - slice.start());
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
