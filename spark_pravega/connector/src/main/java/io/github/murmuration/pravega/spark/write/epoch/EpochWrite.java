// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.write.append.EpochSegments;
import io.github.murmuration.pravega.spark.write.append.EpochState;
import io.github.murmuration.pravega.spark.write.append.KeptEvents;
import io.github.murmuration.pravega.spark.write.append.NamedSegments;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.github.murmuration.pravega.spark.write.transaction.TransactionalWriterFactory;
import io.github.murmuration.pravega.spark.write.transaction.TransactionalWrites;
import io.github.murmuration.pravega.spark.write.transaction.Transactions;
import io.github.murmuration.pravega.spark.write.transaction.WrittenRows;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.impl.StreamSegments;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes one epoch of a streaming query exactly once. */
public final class EpochWrite implements StreamingWrite {
    private static final Logger LOG = LoggerFactory.getLogger(EpochWrite.class);
    /** A task may keep so much though it is more than its share of an append: most tasks of an epoch keep less. */
    private static final int KEPT_BY_TASK = 1 << 20;
    /** … as long as all tasks together keep no more than these many appends. */
    private static final int KEPT_BY_ALL = 4;

    /** Spark's local property with the id of the run to which a streaming query's thread belongs. */
    private static final String JOB_GROUP = "spark.jobGroup.id";

    private final TransactionalWrites writes;
    private final UUID query;
    private List<TransactionId> written = List.of();
    private EpochCommit commit;

    public EpochWrite(TransactionalWrites writes, String queryId) {
        this.writes = writes;
        query = UUID.fromString(queryId);
    }

    @Override
    public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
        TransactionalWriterFactory tasks = writes.writerFactory();
        try {
            return isPartlyAppended() ? new EpochWriterFactory(tasks, (long) KEPT_BY_ALL * KeptEvents.MAX_BYTES, true)
                    : new EpochWriterFactory(tasks, keptByTask(Math.max(1, info.numPartitions())), false);
        } catch (RuntimeException | Error failed) { // Spark does not abort then
            writes.end();
            throw failed;
        }
    }

    /**
     * Whether a part of the epoch that now begins may be there from before: then this driver wants to have all rows, to
     * know which are missing. They are not too many, since they went to be appended.
     */
    private boolean isPartlyAppended() {
        String epoch = SparkSession.active().sparkContext().getLocalProperty(MicroBatchExecution.BATCH_ID_KEY());
        try (Connections.Lease lease = writes.lease()) {
            PravegaConnection connection = lease.connection();
            EpochSegments segments = EpochSegments.of(connection, query);
            segments.in(String.valueOf(SparkSession.active().sparkContext().getLocalProperty(JOB_GROUP)));
            if (epoch == null || segments.begins(Long.parseLong(epoch))) {
                return false;
            }
            LOG.info("Query {} writes exactly once from epoch {} on, of which something may be there", query, epoch);
            return connection.targets().scopeExists(writes.options().scope())
                    && new EpochLog(connection, writes.options().scope(), query).read()
                            .filter(record -> segments.holdAPart(record.appendedTo(), Long.parseLong(epoch)))
                            .isPresent();
        }
    }

    /** Bytes that each of so many tasks may keep for the driver. */
    static long keptByTask(int tasks) {
        long share = KeptEvents.MAX_BYTES / tasks;
        return Math.max(share, Math.min(KEPT_BY_TASK, KEPT_BY_ALL * share));
    }

    @Override
    public void commit(long epoch, WriterCommitMessage[] messages) {
        written = WrittenRows.transactions(messages);
        List<KeptEvents> kept = WrittenRows.kept(messages);
        try (Connections.Lease lease = writes.lease()) {
            if (!written.isEmpty() || !kept.isEmpty()) {
                write(lease, epoch, kept);
            }
            EpochSegments.of(lease.connection(), query).written(epoch);
        }
        writes.end();
    }

    private void write(Connections.Lease lease, long epoch, List<KeptEvents> kept) {
        EpochLog log = new EpochLog(lease.connection(), writes.options().scope(), query);
        boolean allIsKept = written.isEmpty();
        List<String> streams = kept.stream().map(KeptEvents::stream).distinct().toList();
        if (allIsKept && append(lease.connection(), log, epoch, kept, streams)) {
            return;
        }
        if (!kept.isEmpty()) {
            written = new ArrayList<>(written);
            written.addAll(writes.write(kept));
        }
        LOG.info("Epoch {} of query {} goes in {} transactions", epoch, query, written.size());
        EpochSegments segments = EpochSegments.of(lease.connection(), query);
        commit(lease, log, epoch, named -> {
            Set<Segment> holding = segments.fence(named, epoch, gone -> unknown(epoch, gone));
            return holding.isEmpty() ? written : holding.containsAll(named.of(epoch)) ? List.of()
                    : allIsKept && named.areOf(streams) ? writeRest(named.rest(kept, epoch, holding), epoch, holding)
                    : restOfTasks(epoch, holding);
        });
        segments.close();
    }

    /** Whether the epoch could be appended; if not, a part may be appended, and the rest will not be. */
    private boolean append(PravegaConnection connection, EpochLog log, long epoch, List<KeptEvents> kept,
            List<String> streams) {
        long bytes = kept.stream().mapToLong(events -> events.framed().length).sum();
        if (streams.size() > 1 || bytes > KeptEvents.MAX_BYTES) {
            return false;
        }
        Stream stream = Stream.of(writes.options().scope(), streams.get(0));
        Optional<StreamSegments> fixed = connection.targets().fixedSegments(stream, writes.options());
        if (fixed.isEmpty()) {
            return false;
        }
        NamedSegments targets = NamedSegments.of(fixed.get(), kept.stream().anyMatch(KeptEvents::haveKeys));
        EpochAppend append = new EpochAppend(
                log, EpochSegments.of(connection, query), epoch, targets, gone -> unknown(epoch, gone));
        EpochState state = Uninterrupted.call(() -> append.run(targets.parts(kept, epoch)));
        if (state == EpochState.ABSENT) {
            connection.targets().forgetSegments(stream);
        }
        return state == EpochState.APPENDED;
    }

    private void commit(Connections.Lease lease, EpochLog log, long epoch,
            Function<NamedSegments, List<TransactionId>> unappended) {
        Transactions transactions = writes.transactions(lease);
        commit = new EpochCommit(
                log, transactions, new EpochRecord(epoch, written), unappended, writes.options().onUnknownEpoch());
        transactions.renew(written);
        Uninterrupted.call(() -> {
            commit.run();
            return null;
        });
    }

    private List<TransactionId> writeRest(List<KeptEvents> rest, long epoch, Set<Segment> holding) {
        LOG.info("A part of epoch {} of query {} was appended to {}; what {} other segments were to get goes in "
                + "transactions", epoch, query, names(holding), rest.size());
        return rest.isEmpty() ? List.of() : writes.write(rest);
    }

    /** Of rows that tasks have written nobody knows where they were to be appended. */
    private List<TransactionId> restOfTasks(long epoch, Set<Segment> holding) {
        UnknownEpoch decision = writes.options().onUnknownEpoch().decide(epoch, "a part of it was appended to "
                + names(holding) + ", and now its tasks write, so that the driver cannot tell the rest of it");
        return decision == UnknownEpoch.WRITE ? written : List.of();
    }

    private static String names(Set<Segment> segments) {
        return segments.stream().map(Segment::getScopedName).sorted().collect(Collectors.joining(", "));
    }

    private EpochState unknown(long epoch, Segment gone) {
        UnknownEpoch decision = writes.options().onUnknownEpoch().decide(
                epoch, "the segment " + gone.getScopedName() + " that was to hold it is gone");
        return decision == UnknownEpoch.WRITE ? EpochState.FENCED : EpochState.APPENDED;
    }

    /** Spark also calls it when the commit failed; a transaction that may be recorded must not be aborted then. */
    @Override
    public void abort(long epoch, WriterCommitMessage[] messages) {
        if (commit != null && commit.hasBegun()) {
            writes.letGo();
        } else {
            writes.abort(written.isEmpty() ? WrittenRows.transactions(messages) : written);
        }
    }
}
