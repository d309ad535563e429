package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/** Writes one epoch of a streaming query exactly once. */
final class EpochWrite implements StreamingWrite {
    private final TransactionalWrites writes;
    private final String queryId;
    private boolean committing;

    EpochWrite(TransactionalWrites writes, String queryId) {
        this.writes = writes;
        this.queryId = queryId;
    }

    @Override
    public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
        return new EpochWriterFactory(
                writes.writerFactory(), KeptEvents.MAX_BYTES / Math.max(1, info.numPartitions()));
    }

    @Override
    public void commit(long epoch, WriterCommitMessage[] messages) {
        List<TransactionId> written = WrittenRows.transactions(messages);
        List<KeptEvents> kept = WrittenRows.kept(messages);
        if (written.isEmpty() && kept.isEmpty()) {
            return;
        }
        try (Connections.Lease lease = writes.lease()) {
            EpochLog log = new EpochLog(lease.connection(), writes.options().scope(), queryId);
            if (!written.isEmpty() || !append(lease.connection(), log, epoch, kept)) {
                commit(lease, log, epoch, Stream.concat(written.stream(), writes.write(kept).stream()).toList());
            }
        }
    }

    /** Whether it could be done. */
    private boolean append(PravegaConnection connection, EpochLog log, long epoch, List<KeptEvents> kept) {
        List<String> streams = kept.stream().map(KeptEvents::stream).distinct().toList();
        Optional<Segment> segment = streams.size() > 1 ? Optional.empty()
                : connection.onlySegment(target(streams.get(0)), writes.options());
        return segment.isPresent() && append(
                new EpochAppend(connection, log, UUID.fromString(queryId), epoch, segment.get()), kept);
    }

    private io.pravega.client.stream.Stream target(String stream) {
        return io.pravega.client.stream.Stream.of(writes.options().scope(), stream);
    }

    private static boolean append(EpochAppend append, List<KeptEvents> kept) {
        Uninterrupted.run(() -> append.run(KeptEvents.inSegment(kept)));
        return append.isDone();
    }

    private void commit(Connections.Lease lease, EpochLog log, long epoch, List<TransactionId> written) {
        Transactions transactions = writes.transactions(lease);
        transactions.renew(written);
        committing = true;
        Uninterrupted.run(new EpochCommit(log, transactions, new EpochRecord(epoch, written),
                earlier -> lease.connection().appended(earlier, UUID.fromString(queryId), epoch))::run);
    }

    /** Spark also calls it when the commit failed; a transaction that may be recorded must not be aborted then. */
    @Override
    public void abort(long epoch, WriterCommitMessage[] messages) {
        if (!committing) {
            writes.abort(messages);
        }
    }
}
