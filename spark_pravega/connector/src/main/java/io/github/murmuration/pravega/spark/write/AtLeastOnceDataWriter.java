// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.github.murmuration.pravega.spark.write.append.KeptEvents;
import io.github.murmuration.pravega.spark.write.transaction.OutstandingBytes;
import io.github.murmuration.pravega.spark.write.transaction.WrittenRows;
import io.github.murmuration.spark.common.write.EventColumns;
import io.pravega.client.stream.EventStreamWriter;
import io.pravega.client.stream.Stream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Appends the rows of one task. The task fails if any of its writes failed. */
final class AtLeastOnceDataWriter implements DataWriter<InternalRow> {
    /** Of events without a key that are sent as one: what an append costs the client does not depend on its size. */
    private static final int BATCH_BYTES = 64 << 10;

    private final PravegaOptions options;
    private final EventColumns columns;
    private final boolean prompt;
    private final Connections.Lease lease;
    private final RoutingKeys routingKeys = new RoutingKeys();
    private final Map<String, Target> targets = new HashMap<>();
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
        Target target = targets.computeIfAbsent(columns.stream(row), this::open);
        String routingKey = columns.keyText(row);
        try {
            if (routingKey == null && !prompt) {
                target.collect(columns.event(row));
            } else {
                target.write(routingKey == null ? routingKeys.next() : routingKey, columns.event(row));
            }
        } catch (InterruptedException interrupted) {
            throw Waiting.interrupted("writing to Pravega");
        }
    }

    @Override
    public WriterCommitMessage commit() throws IOException {
        try {
            for (Target target : targets.values()) {
                target.flush();
            }
        } catch (InterruptedException interrupted) {
            throw Waiting.interrupted("writing to Pravega");
        }
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
            targets.values().forEach(target -> target.writer.close());
        } finally {
            lease.close();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Target open(String name) {
        Stream stream = Stream.of(options.scope(), name);
        PravegaConnection connection = lease.connection();
        connection.targets().ensureExists(stream, options);
        return new Target(prompt ? connection.promptWriters().writer(stream) : connection.eventWriter(stream));
    }

    /** A stream, and the events without a key that are still to be sent to it. */
    private final class Target {
        private final EventStreamWriter<byte[]> writer;
        private List<byte[]> batch = new ArrayList<>();
        private int bytes;

        Target(EventStreamWriter<byte[]> writer) {
            this.writer = writer;
        }

        void collect(byte[] event) throws InterruptedException {
            if (bytes + KeptEvents.bytes(event) > BATCH_BYTES) {
                sendBatch();
            }
            batch.add(event);
            bytes += KeptEvents.bytes(event);
        }

        void write(String routingKey, byte[] event) throws InterruptedException {
            int permits = outstanding.acquire(event.length);
            outstanding.releaseWhenDone(writer.writeEvent(routingKey, event), permits);
        }

        void flush() throws InterruptedException {
            sendBatch();
            writer.flush();
        }

        private void sendBatch() throws InterruptedException {
            if (!batch.isEmpty()) {
                int permits = outstanding.acquire(bytes);
                outstanding.releaseWhenDone(writer.writeEvents(routingKeys.next(), batch), permits);
                batch = new ArrayList<>();
                bytes = 0;
            }
        }
    }
}
