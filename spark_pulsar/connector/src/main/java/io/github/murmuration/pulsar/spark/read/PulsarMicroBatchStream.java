// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.pulsar.spark.client.Connections;
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
final class PulsarMicroBatchStream implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    /** With nothing to read, Spark asks for the latest offset every 10 ms; the server is asked less often. */
    private static final long IDLE_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(30);
    /** So often an idle query looks for new partitions, and what else is not told by the ends of the old ones. */
    private static final long ALL_POLL_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final PulsarOptions options;
    private final StructType columns;
    private final InitialOffset initialOffset;
    /** Held from the first use on: Spark does not stop the stream of a query that ended before it. */
    private Connections.Lease lease;
    private StreamReads reads;
    /** Where the query ends, if it does. */
    private PulsarOffset end;
    private List<PartitionState> states;
    private long statesAt;
    private long allAskedAt;
    private boolean idle;
    private Plan plan;

    private record Plan(PulsarOffset start, PulsarOffset end, InputPartition[] slices) {
    }

    PulsarMicroBatchStream(PulsarOptions options, StructType columns, InitialOffset initialOffset) {
        this.options = options;
        this.columns = columns;
        this.initialOffset = initialOffset;
    }

    @Override
    public synchronized Offset initialOffset() {
        return initialOffset.readOrCreate(() -> {
            List<PartitionState> now = reads().states(null);
            return options.startingOffsets().orElse(StartingOffsets.LATEST) == StartingOffsets.EARLIEST
                    ? StreamReads.earliest(now) : StreamReads.latest(now);
        });
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
        return options.maxEventsPerTrigger().isPresent()
                ? ReadLimit.maxRows(options.maxEventsPerTrigger().getAsLong()) : ReadLimit.allAvailable();
    }

    @Override
    public synchronized void prepareForTriggerAvailableNow() {
        end = StreamReads.latest(reads().states(null));
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("Spark asks with a read limit");
    }

    @Override
    public synchronized Offset latestOffset(Offset start, ReadLimit limit) {
        PulsarOffset from = PulsarOffset.of(start);
        List<PartitionState> now = statesNow(from);
        PulsarOffset present = reads().present(from, now);
        PulsarOffset next = reads().limited(present, end == null ? StreamReads.latest(now) : end, now, rows(limit));
        idle = next.equals(from);
        return idle ? start : next;
    }

    private static long rows(ReadLimit limit) {
        if (limit instanceof ReadMaxRows rows) {
            return rows.maxRows();
        }
        if (limit instanceof CompositeReadLimit composite) {
            return Arrays.stream(composite.getReadLimits()).mapToLong(PulsarMicroBatchStream::rows).min()
                    .orElse(Long.MAX_VALUE);
        }
        return Long.MAX_VALUE;
    }

    @Override
    public synchronized Offset reportLatestOffset() {
        return states == null ? null : StreamReads.latest(states);
    }

    /** Spark plans a batch twice; the second time it gets the same. */
    @Override
    public synchronized InputPartition[] planInputPartitions(Offset start, Offset end) {
        PulsarOffset from = PulsarOffset.of(start);
        PulsarOffset to = PulsarOffset.of(end);
        if (plan == null || !plan.start.equals(from) || !plan.end.equals(to)) {
            plan = new Plan(from, to, reads().slices(from, to));
        }
        return plan.slices;
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new SliceReaderFactory(options, columns);
    }

    @Override
    public Offset deserializeOffset(String json) {
        return PulsarOffset.fromJson(json);
    }

    /** {@code lagEntries}: published batches of events that the stream holds beyond the last batch. */
    @Override
    public synchronized Map<String, String> metrics(Optional<Offset> latestConsumed) {
        if (latestConsumed.isEmpty() || states == null) {
            return Map.of();
        }
        PulsarOffset consumed = PulsarOffset.of(latestConsumed.get());
        long lag = 0;
        for (int partition = 0; partition < states.size(); partition++) {
            PartitionState state = states.get(partition);
            lag += state.entriesBetween(consumed.next(partition, state.head()), state.end());
        }
        return Map.of("lagEntries", Long.toString(lag));
    }

    @Override
    public void commit(Offset end) {
        // Positions are kept in Spark's checkpoint alone.
    }

    @Override
    public synchronized void stop() {
        if (lease != null) {
            lease.close();
        }
    }

    private StreamReads reads() {
        if (reads == null) {
            if (lease == null) {
                lease = Connections.lease(options);
            }
            reads = new StreamReads(
                    lease.connection().streams(), options.stream(), new DataLoss(options.failOnDataLoss()));
        }
        return reads;
    }

    private List<PartitionState> statesNow(PulsarOffset from) {
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
