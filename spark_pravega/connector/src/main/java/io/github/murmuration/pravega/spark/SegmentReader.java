package io.github.murmuration.pravega.spark;

import io.pravega.client.batch.SegmentIterator;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Serializer;
import io.pravega.client.stream.TruncatedDataException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Reads the events of a slice into rows of the wanted columns; events that nobody wants are not copied. */
final class SegmentReader implements PartitionReader<InternalRow> {
    private static final byte[] NOT_COPIED = {};

    private final Connections.Lease lease;
    private final SegmentIterator<byte[]> events;
    private final Segment segment;
    private final GenericInternalRow row;
    private final int eventColumn;
    private final int offsetColumn;

    SegmentReader(PravegaOptions options, StructType columns, SegmentSlice slice) {
        segment = slice.segment();
        String[] names = columns.fieldNames();
        eventColumn = Arrays.asList(names).indexOf("event");
        offsetColumn = Arrays.asList(names).indexOf("offset");
        row = new GenericInternalRow(names.length);
        for (int column = 0; column < names.length; column++) {
            switch (names[column]) {
                case "scope" -> row.update(column, UTF8String.fromString(segment.getScope()));
                case "stream" -> row.update(column, UTF8String.fromString(segment.getStreamName()));
                case "segment_id" -> row.update(column, segment.getSegmentId());
                default -> { }
            }
        }
        lease = Connections.lease(options);
        try {
            events = lease.connection().read(
                    slice, new EventDeserializer(eventColumn >= 0), options.failOnDataLoss());
        } catch (RuntimeException failed) {
            lease.close();
            throw failed;
        }
    }

    @Override
    public boolean next() {
        if (!events.hasNext()) {
            return false;
        }
        if (offsetColumn >= 0) {
            row.update(offsetColumn, events.getOffset());
        }
        byte[] event;
        try {
            event = events.next();
        } catch (TruncatedDataException truncated) {
            throw PravegaException.dataLoss(segment, truncated);
        }
        if (eventColumn >= 0) {
            row.update(eventColumn, event);
        }
        return true;
    }

    @Override
    public InternalRow get() {
        return row;
    }

    @Override
    public void close() {
        events.close();
        lease.close();
    }

    private record EventDeserializer(boolean copying) implements Serializer<byte[]> {
        @Override
        public ByteBuffer serialize(byte[] event) {
            return ByteBuffer.wrap(event);
        }

        @Override
        public byte[] deserialize(ByteBuffer event) {
            if (!copying) {
                return NOT_COPIED;
            }
            byte[] copy = new byte[event.remaining()];
            event.get(copy);
            return copy;
        }
    }
}
