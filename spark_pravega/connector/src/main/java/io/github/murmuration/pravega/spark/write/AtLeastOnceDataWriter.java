// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.write.transaction.OutstandingBytes;
import io.github.murmuration.pravega.spark.write.transaction.WrittenRows;
import io.pravega.client.stream.EventStreamWriter;
import io.pravega.client.stream.Stream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Appends the rows of one task. The task fails if any of its writes failed. */
final class AtLeastOnceDataWriter implements DataWriter<InternalRow> {
    private final PravegaOptions options;
    private final EventColumns columns;
    private final boolean prompt;
    private final Connections.Lease lease;
    private final RoutingKeys routingKeys = new RoutingKeys();
    private final Map<String, EventStreamWriter<byte[]>> writers = new HashMap<>();
    private final OutstandingBytes outstanding = new OutstandingBytes();

    /** @param prompt whether events are sent at once, although together they would cost less */
    AtLeastOnceDataWriter(PravegaOptions options, EventColumns columns, boolean prompt) {
        this.options = options;
        this.columns = columns;
        this.prompt = prompt;
        lease = Connections.lease(options);
    }

    @Override
    public void write(InternalRow row) throws IOException {
        outstanding.throwIfFailed(options.scope());
        byte[] event = columns.event(row);
        String routingKey = columns.routingKey(row);
        EventStreamWriter<byte[]> writer = writers.computeIfAbsent(columns.stream(row), this::open);
        try {
            int permits = outstanding.acquire(event.length);
            outstanding.releaseWhenDone(
                    writer.writeEvent(routingKey == null ? routingKeys.next() : routingKey, event), permits);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while writing to Pravega");
        }
    }

    @Override
    public WriterCommitMessage commit() {
        writers.values().forEach(EventStreamWriter::flush);
        outstanding.throwIfFailed(options.scope());
        return WrittenRows.NONE;
    }

    @Override
    public void abort() {
        // What is written stays written.
    }

    /** Waits for what is sent, also if the query was stopped, which interrupts its tasks. */
    @Override
    public void close() {
        boolean interrupted = Thread.interrupted();
        try {
            writers.values().forEach(EventStreamWriter::close);
        } finally {
            lease.close();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private EventStreamWriter<byte[]> open(String name) {
        Stream stream = Stream.of(options.scope(), name);
        PravegaConnection connection = lease.connection();
        connection.targets().ensureExists(stream, options);
        return prompt ? connection.promptWriters().writer(stream) : connection.eventWriter(stream);
    }
}
