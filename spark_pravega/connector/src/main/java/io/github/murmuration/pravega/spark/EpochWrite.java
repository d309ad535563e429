package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/** Writes one epoch of a streaming query exactly once. */
final class EpochWrite implements StreamingWrite {
    private final TransactionalWrites writes;
    private final UUID queryId;
    private boolean committing;

    EpochWrite(TransactionalWrites writes, String queryId) {
        this.writes = writes;
        this.queryId = UUID.fromString(queryId);
    }

    @Override
    public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
        return new EpochWriterFactory(
                writes.writerFactory(), KeptEvents.MAX_BYTES / Math.max(1, info.numPartitions()));
    }

    @Override
    public void commit(long epoch, WriterCommitMessage[] messages) {
        List<TransactionId> written = new ArrayList<>(WrittenRows.transactions(messages));
        List<KeptEvents> kept = WrittenRows.kept(messages);
        if (written.isEmpty() && kept.isEmpty()) {
            return;
        }
        try (Connections.Lease lease = writes.lease()) {
            EpochLog log = new EpochLog(lease.connection(), writes.options().scope(), queryId);
            if (!written.isEmpty() || !append(lease.connection(), log, epoch, kept)) {
                written.addAll(writes.write(kept));
                commit(lease, log, epoch, written);
            }
        }
    }

    /** Whether the epoch could be appended; if not, nothing has happened. */
    private boolean append(PravegaConnection connection, EpochLog log, long epoch, List<KeptEvents> kept) {
        List<String> streams = kept.stream().map(KeptEvents::stream).distinct().toList();
        if (streams.size() > 1) {
            return false;
        }
        Stream stream = Stream.of(writes.options().scope(), streams.get(0));
        List<Segment> segments = connection.fixedSegments(stream, writes.options());
        if (segments.isEmpty() || segments.size() > 1 && kept.stream().anyMatch(KeptEvents::haveKeys)) {
            return false;
        }
        EpochAppend append = new EpochAppend(connection, log, queryId, epoch, segments);
        Uninterrupted.run(() -> append.run(KeptEvents.inSegment(kept)));
        return append.isDone();
    }

    private void commit(Connections.Lease lease, EpochLog log, long epoch, List<TransactionId> written) {
        Transactions transactions = writes.transactions(lease);
        transactions.renew(written);
        committing = true;
        lease.connection().endAppends(queryId);
        Uninterrupted.run(new EpochCommit(log, transactions, new EpochRecord(epoch, written),
                earlier -> lease.connection().appended(earlier, queryId, epoch))::run);
    }

    /** Spark also calls it when the commit failed; a transaction that may be recorded must not be aborted then. */
    @Override
    public void abort(long epoch, WriterCommitMessage[] messages) {
        if (!committing) {
            writes.abort(messages);
        }
    }
}
