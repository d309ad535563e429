// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.segment;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.pravega.client.batch.SegmentIterator;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Serializer;
import io.pravega.client.stream.TruncatedDataException;
import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructType;

/** Reads the events of a slice into rows of the wanted columns; events are copied only where they have to be. */
public final class SegmentReader implements PartitionReader<InternalRow> {
    private static final byte[] UNWANTED = {};

    private final Connections.Lease lease;
    private final SegmentIterator<byte[]> events;
    private final Segment segment;
    private final long start;
    private final EventRow row;

    public SegmentReader(PravegaOptions options, StructType columns, SegmentSlice slice) {
        segment = slice.segment();
        start = slice.start();
        row = new EventRow(columns, segment);
        lease = Connections.lease(options);
        try {
            events = RemainingEvents.of(lease.connection(),
                    slice, new EventDeserializer(row.hasEvent()), options.failOnDataLoss());
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
        if (row.hasOffset()) {
            row.setOffset(events.getOffset());
        }
        byte[] event;
        try {
            event = events.next();
        } catch (TruncatedDataException truncated) {
            throw PravegaException.dataLoss(segment, truncated);
        }
        if (row.hasEvent()) {
            row.setEvent(event);
        }
        return true;
    }

    @Override
    public InternalRow get() {
        return row.row();
    }

    @Override
    public CustomTaskMetric[] currentMetricsValues() {
        return new CustomTaskMetric[] {new BytesRead.OfTask(events.getOffset() - start)};
    }

    @Override
    public void close() {
        try (lease) {
            events.close();
        }
    }

    /** Pravega's client allocates an array for each event: that array is handed on, if it holds nothing else. */
    record EventDeserializer(boolean wanted) implements Serializer<byte[]> {
        @Override
        public ByteBuffer serialize(byte[] event) {
            return ByteBuffer.wrap(event);
        }

        @Override
        public byte[] deserialize(ByteBuffer event) {
            if (!wanted) {
                return UNWANTED;
            }
            if (event.hasArray() && event.remaining() == event.array().length) {
                return event.array();
            }
            byte[] copy = new byte[event.remaining()];
            event.get(copy);
            return copy;
        }
    }
}
