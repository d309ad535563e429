// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.client.stream.StreamEpoch;
import io.github.murmuration.pravega.spark.read.segment.EventRow;
import io.pravega.client.segment.impl.EventSegmentReader;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.segment.impl.SegmentTruncatedException;
import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;
import org.apache.spark.sql.types.StructType;

/** Reads a segment as it grows, for the time of a real-time batch. */
public final class RealTimeReader implements SupportsRealTimeRead<InternalRow> {
    private final RealTimeSlice slice;
    private final boolean failOnDataLoss;
    private final EventRow row;
    private final Connections.Lease lease;
    private final TailEvents events;

    public RealTimeReader(PravegaOptions options, StructType columns, RealTimeSlice slice) {
        this.slice = slice;
        failOnDataLoss = options.failOnDataLoss();
        row = new EventRow(columns, slice.segment());
        lease = Connections.lease(options);
        try {
            PravegaConnection connection = lease.connection();
            StreamEpoch epoch = connection.metadata().epoch(slice.segment().getStream());
            EventSegmentReader segment =
                    connection.inputs().createEventReaderForSegment(slice.segment(), slice.start(), Long.MAX_VALUE);
            events = new TailEvents(segment, slice.epoch(), epoch::latest, this::afterLoss);
        } catch (RuntimeException failed) {
            lease.close();
            throw failed;
        }
    }

    @Override
    public RecordStatus nextWithTimeout(Long timeoutMs) {
        long offset = events.offset();
        ByteBuffer event = events.next(timeoutMs);
        if (event == null) {
            return RecordStatus.newStatusWithoutArrivalTime(false);
        }
        if (row.hasOffset()) {
            row.setOffset(offset);
        }
        if (row.hasEvent()) {
            row.setEvent(event.array()); // of this event alone
        }
        return RecordStatus.newStatusWithoutArrivalTime(true);
    }

    /** What Spark 4.2 calls in its place, with the time of its clock at which it does. */
    public RecordStatus nextWithTimeout(Long calledAtMs, Long timeoutMs) {
        long left = calledAtMs + timeoutMs - System.currentTimeMillis();
        return nextWithTimeout(Math.max(0, Math.min(timeoutMs, left)));
    }

    @Override
    public boolean next() {
        throw new UnsupportedOperationException("Spark reads a real-time batch with a timeout");
    }

    @Override
    public InternalRow get() {
        return row.row();
    }

    @Override
    public PartitionOffset getOffset() {
        return slice.at(events.offset());
    }

    @Override
    public void close() {
        try (lease) {
            events.close();
        }
    }

    private long afterLoss(SegmentTruncatedException truncated) {
        Segment segment = slice.segment();
        long next = failOnDataLoss ? 0 : lease.connection().metadata().firstOffset(segment);
        if (next <= events.offset()) {
            throw PravegaException.dataLoss(segment, truncated);
        }
        return next;
    }
}
