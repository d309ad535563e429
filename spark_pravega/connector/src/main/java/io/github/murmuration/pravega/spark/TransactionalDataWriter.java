package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.SegmentSealedException;
import io.pravega.client.stream.Stream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes the rows of one task attempt: a transaction per target stream, begun with its first row. */
final class TransactionalDataWriter implements DataWriter<InternalRow> {
    private final PravegaOptions options;
    private final EventColumns columns;
    private final UUID write;
    private final long timeoutMs;
    private final int partition;
    private final Connections.Lease lease;
    private final RoutingKeys routingKeys = new RoutingKeys();
    private final Map<String, EventTransaction> transactions = new HashMap<>();

    TransactionalDataWriter(
            PravegaOptions options, EventColumns columns, UUID write, long timeoutMs, int partition) {
        this.options = options;
        this.columns = columns;
        this.write = write;
        this.timeoutMs = timeoutMs;
        this.partition = partition;
        lease = Connections.lease(options);
    }

    @Override
    public void write(InternalRow row) throws IOException {
        byte[] event = columns.event(row);
        String routingKey = columns.routingKey(row);
        try {
            transactions.computeIfAbsent(columns.stream(row), this::begin)
                    .write(routingKey == null ? routingKeys.next() : routingKey, event);
        } catch (InterruptedException stopped) {
            throw interrupted();
        }
    }

    @Override
    public WriterCommitMessage commit() throws IOException {
        List<TransactionId> written = new ArrayList<>();
        try {
            for (EventTransaction transaction : transactions.values()) {
                written.add(transaction.flush(partition));
            }
        } catch (SegmentSealedException ended) {
            throw new IOException("a transaction was ended before its task; if it expired, raise "
                    + PravegaOptions.TRANSACTION_TIMEOUT_MS, ended);
        } catch (InterruptedException stopped) {
            throw interrupted();
        }
        return new WrittenTransactions(written);
    }

    @Override
    public void abort() {
        transactions.values().forEach(EventTransaction::abort);
    }

    @Override
    public void close() {
        lease.close();
    }

    private static InterruptedIOException interrupted() {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("interrupted while writing to Pravega");
    }

    private EventTransaction begin(String name) {
        Stream stream = Stream.of(options.scope(), name);
        lease.connection().ensureExists(stream, options);
        return new EventTransaction(lease.connection(), write, stream, timeoutMs);
    }
}
