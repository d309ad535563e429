// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.write.append.KeptEvents;
import io.github.murmuration.pravega.spark.write.transaction.TransactionalDataWriter;
import io.github.murmuration.pravega.spark.write.transaction.WrittenRows;
import io.github.murmuration.spark.common.write.EventColumns;
import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * Writes the rows of one task attempt of an epoch. As long as they are few and go to one stream that does not scale by
 * itself, it keeps them for the driver; else it writes them in transactions.
 */
final class EpochDataWriter implements DataWriter<InternalRow> {
    private final EventColumns columns;
    private final TransactionalDataWriter transactions;
    private final long limitBytes;
    private final boolean keepsAny;
    private boolean inTransactions;
    private boolean isFixed;
    private KeptEvents.Builder kept;
    private long keptBytes;

    /** See {@link EpochWriterFactory}. */
    EpochDataWriter(
            EventColumns columns, TransactionalDataWriter transactions, long limitBytes, boolean keepsAny) {
        this.columns = columns;
        this.transactions = transactions;
        this.limitBytes = limitBytes;
        this.keepsAny = keepsAny;
    }

    @Override
    public void write(InternalRow row) throws IOException {
        String stream = columns.stream(row);
        String routingKey = columns.keyText(row);
        byte[] event = columns.event(row);
        if (inTransactions || !keeps(stream, routingKey, event)) {
            writeKept();
            transactions.write(stream, routingKey, event);
        } else {
            kept.add(routingKey, event);
        }
    }

    @Override
    public WriterCommitMessage commit() throws IOException {
        return kept == null ? transactions.commit() : new WrittenRows(kept.build());
    }

    @Override
    public void abort() {
        transactions.abort();
    }

    @Override
    public void close() {
        transactions.close();
    }

    private boolean keeps(String stream, String routingKey, byte[] event) {
        if (kept == null) {
            isFixed = transactions.isFixed(stream);
            kept = new KeptEvents.Builder(stream);
        }
        keptBytes += KeptEvents.bytes(routingKey, event);
        return (isFixed || keepsAny) && keptBytes <= limitBytes && stream.equals(kept.stream());
    }

    private void writeKept() throws IOException {
        inTransactions = true;
        if (kept != null) {
            transactions.write(kept.build());
            kept = null;
        }
    }
}
