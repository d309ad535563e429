// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsException;
import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.client.ApiException;
import io.github.murmuration.nats.spark.client.Connections;
import io.github.murmuration.nats.spark.client.Keys;
import io.github.murmuration.nats.spark.client.NatsConnection;
import io.github.murmuration.nats.spark.client.Partitions;
import io.github.murmuration.nats.spark.client.UnansweredException;
import io.github.murmuration.spark.common.client.Leases;
import io.github.murmuration.spark.common.client.Patience;
import io.github.murmuration.spark.common.write.EventColumns;
import io.github.murmuration.spark.common.write.PartitionCounts;
import io.github.murmuration.spark.common.write.Written;
import io.nats.client.Message;
import io.nats.client.impl.Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes rows in atomic batches as they come; what an earlier attempt has written is written again. */
final class AtLeastOnceDataWriter implements DataWriter<InternalRow> {
    /** So many bytes of all partitions together are kept before they are written. */
    private static final int KEPT_BYTES = 32 << 20;

    private final NatsOptions options;
    private final Leases.Lease<NatsConnection> lease;
    private final TargetRows rows;
    private long bytes;

    AtLeastOnceDataWriter(NatsOptions options, EventColumns columns, PartitionCounts counts) {
        this.options = options;
        lease = Connections.lease(options.servers());
        rows = new TargetRows(options, columns, stream -> counts.of(
                stream, () -> Partitions.all(lease.connection(), stream).size()), false);
    }

    @Override
    public void write(InternalRow row) {
        Rows of = rows.add(row);
        bytes += of.event(of.size() - 1).length;
        if (of.size() >= options.batchEvents() || bytes >= KEPT_BYTES) {
            writeKept();
        }
    }

    @Override
    public WriterCommitMessage commit() {
        writeKept();
        return Written.INSTANCE;
    }

    @Override
    public void abort() {
        // What was written stays.
    }

    @Override
    public void close() {
        lease.close();
    }

    /** A batch for each partition, side by side. */
    private void writeKept() {
        List<Part> parts = new ArrayList<>();
        rows.forEach((partition, its) -> parts.add(
                new Part(partition.stream().subject(partition.number(), "spark"), its)));
        Patience patience = new Patience();
        while (!parts.isEmpty()) {
            try {
                parts.forEach(Part::send);
                parts.forEach(Part::await);
                parts.clear();
            } catch (UnansweredException failed) {
                again(parts, failed, patience);
            } catch (ApiException failed) {
                if (!failed.isPassing()) {
                    throw failed;
                }
                again(parts, failed, patience);
            }
        }
        rows.clear();
        bytes = 0;
    }

    private static void again(List<Part> parts, NatsException failed, Patience patience) {
        parts.removeIf(part -> part.done);
        patience.pauseAfter(failed);
    }

    private final class Part {
        final String subject;
        final Rows its;
        AtomicBatch batch;
        CompletableFuture<Message> answer;
        boolean done;

        Part(String subject, Rows its) {
            this.subject = subject;
            this.its = its;
        }

        void send() {
            batch = new AtomicBatch(lease.connection(), subject);
            int lastIndex = its.size() - 1;
            for (int index = 0; index < lastIndex; index++) {
                batch.add(headers(index), its.event(index));
            }
            answer = batch.commit(headers(lastIndex), its.event(lastIndex));
        }

        void await() {
            batch.sequence(answer);
            done = true;
        }

        private Headers headers(int index) {
            String key = its.key(index);
            return key == null ? new Headers() : new Headers().put(Keys.HEADER, key);
        }
    }
}
