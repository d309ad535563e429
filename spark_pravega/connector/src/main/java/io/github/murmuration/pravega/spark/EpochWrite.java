package io.github.murmuration.pravega.spark;

import java.util.List;
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
        return writes.writerFactory();
    }

    @Override
    public void commit(long epoch, WriterCommitMessage[] messages) {
        List<TransactionId> written = WrittenTransactions.all(messages);
        if (written.isEmpty()) {
            return;
        }
        try (Connections.Lease lease = writes.lease()) {
            Transactions transactions = writes.transactions(lease);
            transactions.renew(written);
            committing = true;
            EpochLog log = new EpochLog(lease.connection(), writes.options().scope(), queryId);
            Uninterrupted.run(new EpochCommit(log, transactions, new EpochRecord(epoch, written))::run);
        }
    }

    /** Spark also calls it when the commit failed; a transaction that may be recorded must not be aborted then. */
    @Override
    public void abort(long epoch, WriterCommitMessage[] messages) {
        if (!committing) {
            writes.abort(messages);
        }
    }
}
