// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.write;

import io.github.murmuration.pulsar.spark.PulsarException;
import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.pulsar.spark.client.Connection;
import io.github.murmuration.pulsar.spark.client.Connections;
import io.github.murmuration.pulsar.spark.client.EventStream;
import io.github.murmuration.pulsar.spark.client.PartitionProducer;
import io.github.murmuration.spark.common.client.Leases;
import io.github.murmuration.spark.common.write.EventColumns;
import io.github.murmuration.spark.common.write.PartitionCounts;
import io.github.murmuration.spark.common.write.PartitionOfKey;
import io.github.murmuration.spark.common.write.Written;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.unsafe.types.UTF8String;

/** Writes rows as they come; what an earlier attempt has written is written again. */
final class AtLeastOnceDataWriter implements DataWriter<InternalRow> {
    private final PulsarOptions options;
    private final EventColumns columns;
    private final PartitionCounts counts;
    private final Leases.Lease<Connection> lease;
    private final Sent sent = new Sent();
    private final Map<String, Target> targets = new HashMap<>();
    private Target last;

    AtLeastOnceDataWriter(PulsarOptions options, EventColumns columns, PartitionCounts counts) {
        this.options = options;
        this.columns = columns;
        this.counts = counts;
        lease = Connections.lease(options);
    }

    /** A stream, and the producers of its partitions. */
    private static final class Target {
        final EventStream stream;
        final Partition[] partitions;
        int turn;

        Target(EventStream stream, int partitions) {
            this.stream = stream;
            this.partitions = new Partition[partitions];
        }
    }

    private record Partition(String topic, PartitionProducer producer) {
    }

    @Override
    public void write(InternalRow row) {
        sent.check();
        Target target = target(columns.stream(row));
        UTF8String key = columns.key(row);
        int number = key == null ? target.turn++ % target.partitions.length
                : PartitionOfKey.of(key.getBytes(), target.partitions.length);
        Partition partition = partition(target, number);
        byte[] event = columns.event(row);
        sent.begin();
        partition.producer.send(key, event).whenComplete((id, failure) -> {
            if (failure != null) {
                lease.connection().failed(partition.topic, partition.producer, failure);
            }
            sent.end(partition.topic, failure);
        });
    }

    @Override
    public WriterCommitMessage commit() {
        for (Target target : targets.values()) {
            for (Partition partition : target.partitions) {
                if (partition != null) {
                    partition.producer.flush();
                }
            }
        }
        sent.await();
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

    private Partition partition(Target target, int number) {
        if (target.partitions[number] == null) {
            String topic = target.stream.topic(number);
            target.partitions[number] = new Partition(topic, lease.connection().producer(topic));
        }
        return target.partitions[number];
    }

    private Target target(String name) {
        if (last == null || !last.stream.name().equals(name)) {
            last = targets.computeIfAbsent(name, absent -> {
                EventStream stream = options.stream(name);
                return new Target(stream, counts.of(
                        stream, () -> lease.connection().streams().describe(stream).partitions()));
            });
        }
        return last;
    }

    /** What is under way, and the first failure; the client's threads tell of both. */
    private static final class Sent {
        private long open;
        private PulsarException failure;

        synchronized void begin() {
            open++;
        }

        synchronized void end(String topic, Throwable failed) {
            if (failed != null && failure == null) {
                failure = new PulsarException("Pulsar did not take an event of " + topic + ": " + failed.getMessage(),
                        failed);
            }
            if (--open == 0) {
                notifyAll();
            }
        }

        synchronized void check() {
            if (failure != null) {
                throw failure;
            }
        }

        /** Ends by itself, as every event fails that is not delivered in time. */
        synchronized void await() {
            try {
                while (open > 0) {
                    wait();
                }
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new PulsarException("interrupted while events were written", interrupted);
            }
            check();
        }
    }
}
