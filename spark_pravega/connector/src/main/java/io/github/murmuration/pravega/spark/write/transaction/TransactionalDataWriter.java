// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.github.murmuration.pravega.spark.client.stream.TargetStreams;
import io.github.murmuration.pravega.spark.write.append.KeptEvents;
import io.github.murmuration.spark.common.write.EventColumns;
import io.pravega.client.segment.impl.SegmentSealedException;
import io.pravega.client.stream.Stream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;

/** Writes the rows of one task attempt: a transaction per target stream, begun with its first row. */
public final class TransactionalDataWriter implements DataWriter<InternalRow> {
    private final PravegaOptions options;
    private final EventColumns columns;
    private final UUID write;
    private final long timeoutMs;
    private final int partition;
    private final Consumer<TransactionId> written;
    private final Connections.Lease lease;
    private final Map<String, EventTransaction> transactions = new HashMap<>();

    /** @param written is told of each transaction that is flushed */
    TransactionalDataWriter(PravegaOptions options, EventColumns columns, UUID write, long timeoutMs, int partition,
            Consumer<TransactionId> written) {
        this.options = options;
        this.columns = columns;
        this.write = write;
        this.timeoutMs = timeoutMs;
        this.partition = partition;
        this.written = written;
        lease = Connections.lease(options);
    }

    @Override
    public void write(InternalRow row) throws IOException {
        write(columns.stream(row), columns.keyText(row), columns.event(row));
    }

    /** Writes what was kept at first. */
    public void write(KeptEvents kept) throws IOException {
        KeptEvents.Reader events = kept.read();
        while (events.next()) {
            write(kept.stream(), events.routingKey(), events.event());
        }
    }

    /** @param routingKey null if the event has none */
    public void write(String stream, String routingKey, byte[] event) throws IOException {
        try {
            transactions.computeIfAbsent(stream, this::begin).write(routingKey, event);
        } catch (InterruptedException stopped) {
            throw Waiting.interrupted("writing to Pravega");
        }
    }

    @Override
    public WrittenRows commit() throws IOException {
        List<TransactionId> flushed = new ArrayList<>();
        try {
            for (EventTransaction transaction : transactions.values()) {
                flushed.add(transaction.flush(partition));
            }
        } catch (SegmentSealedException ended) {
            throw new IOException("a transaction was ended before its task; if it expired, raise "
                    + PravegaOptions.TRANSACTION_TIMEOUT_MS, ended);
        } catch (InterruptedException stopped) {
            throw Waiting.interrupted("writing to Pravega");
        }
        flushed.forEach(written);
        return new WrittenRows(flushed);
    }

    @Override
    public void abort() {
        transactions.values().forEach(EventTransaction::abort);
    }

    @Override
    public void close() {
        lease.close();
    }

    /** See {@link TargetStreams#fixedSegments}. */
    public boolean isFixed(String name) {
        return lease.connection().targets().fixedSegments(Stream.of(options.scope(), name), options).isPresent();
    }

    private EventTransaction begin(String name) {
        Stream stream = Stream.of(options.scope(), name);
        return new EventTransaction(lease.connection(), write, stream, timeoutMs, !isFixed(name));
    }
}
