// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import io.github.murmuration.pravega.spark.client.Connections;
import java.util.List;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes a DataFrame: nothing can be read before all tasks are done. */
public final class TransactionalBatchWrite implements BatchWrite {
    private final TransactionalWrites writes;
    private boolean committing;

    public TransactionalBatchWrite(TransactionalWrites writes) {
        this.writes = writes;
    }

    @Override
    public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
        return writes.writerFactory();
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
        List<TransactionId> written = WrittenRows.transactions(messages);
        try (Connections.Lease lease = writes.lease()) {
            Transactions transactions = writes.transactions(lease);
            transactions.renew(written);
            committing = true;
            transactions.commit(written);
        }
        writes.end();
    }

    /** Spark also calls it when the commit failed; then what is not committed expires. */
    @Override
    public void abort(WriterCommitMessage[] messages) {
        if (committing) {
            writes.letGo();
        } else {
            writes.abort(WrittenRows.transactions(messages));
        }
    }
}
