// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.read.plan.Cuts;
import io.github.murmuration.pravega.spark.read.plan.PravegaOffset;
import io.github.murmuration.pravega.spark.read.plan.ReadBudget;
import io.github.murmuration.pravega.spark.read.plan.StreamBound;
import io.github.murmuration.pravega.spark.read.plan.StreamReads;
import io.github.murmuration.pravega.spark.read.realtime.RealTimeOffset;
import io.github.murmuration.pravega.spark.read.realtime.RealTimeSlice;
import io.github.murmuration.pravega.spark.read.realtime.TaskSlots;
import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import io.github.murmuration.spark.common.read.InitialOffset;
import io.pravega.client.stream.StreamCut;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A stream as the source of a streaming query. Its offsets are stream cuts. */
final class PravegaMicroBatchStream
        implements MicroBatchStream, SupportsTriggerAvailableNow, SupportsRealTimeMode, ReportsSourceMetrics {
    /** With nothing to read, Spark asks for the latest offset every 10 ms; Pravega is asked less often. */
    private static final long IDLE_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(30);

    private final PravegaOptions options;
    private final StructType columns;
    private final InitialOffset<PravegaOffset> initialOffset;
    private final StreamBound start;
    private final StreamBound bound;
    /** Held from the first use: Spark does not stop a stream of a query that ended before it. */
    private Connections.Lease lease;
    private StreamReads reads;
    /** Where the query ends, if it does: fixed at its start. */
    private Optional<StreamCut> end = Optional.empty();
    private StreamCut tail;
    private long tailAt;
    private static final Logger LOG = LoggerFactory.getLogger(PravegaMicroBatchStream.class);

    private boolean idle;
    private boolean realTime;
    private Plan plan;

    private record Plan(PravegaOffset start, PravegaOffset end, InputPartition[] partitions) {
    }

    PravegaMicroBatchStream(PravegaOptions options, StructType columns, InitialOffset<PravegaOffset> initialOffset) {
        this.options = options;
        this.columns = columns;
        this.initialOffset = initialOffset;
        start = options.start(StreamBound.LATEST);
        bound = options.end(StreamBound.UNBOUNDED);
    }

    @Override
    public synchronized Offset initialOffset() {
        StreamReads from = reads();
        return initialOffset.readOrCreate(() -> {
            StreamCut first = from.resolveStart(start);
            from.requireInOrder(start, first, bound);
            return new PravegaOffset(first);
        });
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
        return options.readLimit();
    }

    @Override
    public synchronized void prepareForTriggerAvailableNow() {
        StreamCut available = reads().end();
        end = Optional.of(end.map(bound -> Cuts.earlier(bound, available)).orElse(available));
    }

    /** @throws IllegalArgumentException if an option bounds what is read, which only time does then */
    @Override
    public synchronized void prepareForRealTimeMode() {
        if (bound != StreamBound.UNBOUNDED || options.readLimit() != ReadLimit.allAvailable()) {
            throw new IllegalArgumentException("a real-time batch ends by time alone: leave out "
                    + PravegaOptions.END_STREAM_CUT + ", " + PravegaOptions.MAX_EVENTS_PER_TRIGGER + " and "
                    + PravegaOptions.MAX_BYTES_PER_TRIGGER);
        }
        realTime = true;
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("Spark asks with a read limit");
    }

    @Override
    public synchronized Offset latestOffset(Offset start, ReadLimit limit) {
        PravegaOffset from = PravegaOffset.of(start);
        reads().requireOwn(from.cut());
        StreamCut target = end.map(bound -> Cuts.earlier(bound, tail())).orElseGet(this::tail);
        PravegaOffset next = new PravegaOffset(reads.next(from.cut(), target, ReadBudget.of(limit)));
        idle = next.equals(from);
        return idle ? from : next;
    }

    @Override
    public synchronized Offset reportLatestOffset() {
        return tail == null ? null : new PravegaOffset(tail);
    }

    /** Spark plans a batch twice; the second time it gets the same. */
    @Override
    public synchronized InputPartition[] planInputPartitions(Offset start, Offset end) {
        PravegaOffset from = PravegaOffset.of(start);
        PravegaOffset to = PravegaOffset.of(end);
        if (plan == null || !plan.start.equals(from) || !plan.end.equals(to)) {
            List<SegmentSlice> slices = reads().slices(from.cut(), to.cut());
            plan = new Plan(from, to, slices.stream().map(SegmentPartition::new).toArray(InputPartition[]::new));
        }
        return plan.partitions;
    }

    @Override
    public synchronized InputPartition[] planInputPartitions(Offset start) {
        InputPartition[] slices = RealTimeSlice.plan(reads(), PravegaOffset.of(start).cut());
        TaskSlots.claim(this, slices.length, SparkSession.active().sparkContext());
        return slices;
    }

    @Override
    public Offset mergeOffsets(PartitionOffset[] offsets) {
        return RealTimeOffset.merge(options.stream(), offsets);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new SegmentReaderFactory(options, columns);
    }

    @Override
    public Offset deserializeOffset(String json) {
        return PravegaOffset.fromJson(json);
    }

    /** {@code lagBytes}: what the stream holds beyond the last batch, with eight bytes of header per event. */
    @Override
    public synchronized Map<String, String> metrics(Optional<Offset> latestConsumed) {
        if (latestConsumed.isEmpty() || tail == null) {
            return Map.of();
        }
        if (realTime) {
            tail = reads().end(); // what is known is from the beginning of the batch
        }
        StreamCut consumed = PravegaOffset.of(latestConsumed.get()).cut();
        return Map.of("lagBytes", Long.toString(
                reads().slices(consumed, tail).stream().mapToLong(SegmentSlice::bytes).sum()));
    }

    @Override
    public void commit(Offset end) {
        // Positions are kept in Spark's checkpoint alone.
    }

    @Override
    public synchronized void stop() {
        TaskSlots.release(this);
        if (lease != null) {
            lease.close();
        }
    }

    private StreamReads reads() {
        if (reads == null) {
            if (lease == null) {
                lease = Connections.lease(options);
            }
            lease.connection().targets().ensureExists(options.stream(), options);
            StreamReads ready = new StreamReads(lease.connection(), options.stream(), options.failOnDataLoss());
            if (bound != StreamBound.UNBOUNDED) {
                end = Optional.of(ready.resolveEnd(bound));
            }
            LOG.info("Stream {} is read by a streaming query, where nothing is checkpointed from {}",
                    options.stream().getScopedName(), start.text());
            reads = ready;
        }
        return reads;
    }

    private StreamCut tail() {
        if (tail == null || !idle || System.nanoTime() - tailAt > IDLE_POLL_NANOS) {
            tail = reads().end();
            tailAt = System.nanoTime();
        }
        return tail;
    }
}
