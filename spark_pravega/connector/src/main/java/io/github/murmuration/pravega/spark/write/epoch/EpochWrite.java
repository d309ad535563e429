// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.write.append.EpochSegments;
import io.github.murmuration.pravega.spark.write.append.EpochState;
import io.github.murmuration.pravega.spark.write.append.KeptEvents;
import io.github.murmuration.pravega.spark.write.append.SegmentEndedException;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.github.murmuration.pravega.spark.write.transaction.TransactionalWrites;
import io.github.murmuration.pravega.spark.write.transaction.Transactions;
import io.github.murmuration.pravega.spark.write.transaction.WrittenRows;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes one epoch of a streaming query exactly once. */
public final class EpochWrite implements StreamingWrite {
    private static final Logger LOG = LoggerFactory.getLogger(EpochWrite.class);
    /** A task may keep so much though it is more than its share of an append: most tasks of an epoch keep less. */
    private static final int KEPT_BY_TASK = 1 << 20;
    /** … as long as all tasks together keep no more than these many appends. */
    private static final int KEPT_BY_ALL = 4;

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
        return new EpochWriterFactory(writes.writerFactory(), keptByTask(Math.max(1, info.numPartitions())));
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
        if (written.isEmpty() && append(lease.connection(), log, epoch, kept)) {
            return;
        }
        if (!kept.isEmpty()) {
            written = new ArrayList<>(written);
            written.addAll(writes.write(kept));
        }
        commit(lease, log, epoch);
    }

    /** Whether the epoch could be appended; if not, it is appended nowhere. */
    private boolean append(PravegaConnection connection, EpochLog log, long epoch, List<KeptEvents> kept) {
        List<String> streams = kept.stream().map(KeptEvents::stream).distinct().toList();
        long bytes = kept.stream().mapToLong(events -> events.framed().length).sum();
        if (streams.size() > 1 || bytes > KeptEvents.MAX_BYTES) {
            return false;
        }
        Stream stream = Stream.of(writes.options().scope(), streams.get(0));
        List<Segment> segments = connection.targets().fixedSegments(stream, writes.options());
        if (segments.isEmpty() || segments.size() > 1 && kept.stream().anyMatch(KeptEvents::haveKeys)) {
            return false;
        }
        EpochAppend append = new EpochAppend(
                log, EpochSegments.of(connection, query), epoch, segments, gone -> unknown(epoch, gone));
        try {
            return Uninterrupted.call(() -> append.run(KeptEvents.inSegment(kept))) == EpochState.APPENDED;
        } catch (SegmentEndedException ended) {
            LOG.info("Epoch {} of query {} goes in transactions: {}", epoch, query, ended.getMessage());
            connection.targets().forgetSegments(stream);
            return false;
        }
    }

    private void commit(Connections.Lease lease, EpochLog log, long epoch) {
        Transactions transactions = writes.transactions(lease);
        EpochSegments segments = EpochSegments.of(lease.connection(), query);
        commit = new EpochCommit(log, transactions, new EpochRecord(epoch, written),
                earlier -> segments.fence(earlier.appendedTo(), epoch, gone -> unknown(epoch, gone)),
                writes.options().onUnknownEpoch());
        transactions.renew(written);
        Uninterrupted.call(() -> {
            commit.run();
            segments.close();
            return null;
        });
    }

    private EpochState unknown(long epoch, Segment gone) {
        return switch (writes.options().onUnknownEpoch()) {
            case WRITE -> EpochState.FENCED;
            case SKIP -> EpochState.APPENDED;
            case FAIL -> throw PravegaException.unknownEpoch(
                    epoch, "the segment " + gone.getScopedName() + " that was to hold it is gone");
        };
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
