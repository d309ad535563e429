// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.CompositeReadLimit;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.types.StructType;

/** A stream as the source of a streaming query. */
final class EventMicroBatchStream<S>
        implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    /** With nothing to read, Spark asks for the latest offset every 10 ms; the server is asked less often. */
    private static final long IDLE_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(30);
    /** So often an idle query looks for new partitions, and what else is not told by the ends of the old ones. */
    private static final long ALL_POLL_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final EventSource<S> source;
    private final StructType columns;
    private final InitialOffset<PartitionOffsets> initialOffset;
    /** Held from the first use on: Spark does not stop the stream of a query that ended before it. */
    private StreamReads<S> reads;
    /** Where the query ends, if it does. */
    private PartitionOffsets end;
    private List<S> states;
    private long statesAt;
    private long allAskedAt;
    private boolean idle;
    private Plan plan;

    private record Plan(PartitionOffsets start, PartitionOffsets end, InputPartition[] slices) {
    }

    EventMicroBatchStream(EventSource<S> source, StructType columns, InitialOffset<PartitionOffsets> initialOffset) {
        this.source = source;
        this.columns = columns;
        this.initialOffset = initialOffset;
    }

    @Override
    public synchronized Offset initialOffset() {
        return initialOffset.readOrCreate(() -> {
            List<S> now = reads().states(null);
            return source.startingOffsets().orElse(StartingOffsets.LATEST) == StartingOffsets.EARLIEST
                    ? reads().earliest(now) : reads().latest(now);
        });
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
        return source.maxEventsPerTrigger().isPresent()
                ? ReadLimit.maxRows(source.maxEventsPerTrigger().getAsLong()) : ReadLimit.allAvailable();
    }

    @Override
    public synchronized void prepareForTriggerAvailableNow() {
        end = reads().latest(reads().states(null));
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("Spark asks with a read limit");
    }

    @Override
    public synchronized Offset latestOffset(Offset start, ReadLimit limit) {
        PartitionOffsets from = PartitionOffsets.of(start);
        List<S> now = statesNow(from);
        PartitionOffsets present = reads().present(from, now);
        PartitionOffsets next = reads().limited(present, target(present, now), now, rows(limit));
        idle = next.equals(present) && present.equals(from);
        return idle ? start : next;
    }

    /** Of a stream that was created anew nothing is read by a query that ends where the old one did. */
    private PartitionOffsets target(PartitionOffsets present, List<S> now) {
        if (end == null) {
            return reads().latest(now);
        }
        return end.isOfSameLife(present) ? end : present;
    }

    private static long rows(ReadLimit limit) {
        if (limit instanceof ReadMaxRows rows) {
            return rows.maxRows();
        }
        if (limit instanceof CompositeReadLimit composite) {
            return Arrays.stream(composite.getReadLimits()).mapToLong(EventMicroBatchStream::rows).min()
                    .orElse(Long.MAX_VALUE);
        }
        return Long.MAX_VALUE;
    }

    @Override
    public synchronized Offset reportLatestOffset() {
        return states == null ? null : reads().latest(states);
    }

    /** Spark plans a batch twice; the second time it gets the same. */
    @Override
    public synchronized InputPartition[] planInputPartitions(Offset start, Offset end) {
        PartitionOffsets from = PartitionOffsets.of(start);
        PartitionOffsets to = PartitionOffsets.of(end);
        if (plan == null || !plan.start.equals(from) || !plan.end.equals(to)) {
            plan = new Plan(from, to, reads().slices(from, to));
        }
        return plan.slices;
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return source.readers(columns);
    }

    @Override
    public Offset deserializeOffset(String json) {
        return PartitionOffsets.fromJson(json);
    }

    @Override
    public synchronized Map<String, String> metrics(Optional<Offset> latestConsumed) {
        if (latestConsumed.isEmpty() || states == null) {
            return Map.of();
        }
        return reads().metrics(PartitionOffsets.of(latestConsumed.get()), states);
    }

    @Override
    public void commit(Offset end) {
        // Positions are kept in Spark's checkpoint alone.
    }

    @Override
    public synchronized void stop() {
        if (reads != null) {
            reads.close();
        }
    }

    private StreamReads<S> reads() {
        if (reads == null) {
            reads = source.open();
        }
        return reads;
    }

    private List<S> statesNow(PartitionOffsets from) {
        if (states == null || !idle || System.nanoTime() - statesAt > IDLE_POLL_NANOS) {
            boolean isRecent = states != null && System.nanoTime() - allAskedAt < ALL_POLL_NANOS;
            if (!idle || !isRecent || reads().haveGrown(states)) {
                states = reads().states(from);
                allAskedAt = System.nanoTime();
            }
            statesAt = System.nanoTime();
        }
        return states;
    }
}
