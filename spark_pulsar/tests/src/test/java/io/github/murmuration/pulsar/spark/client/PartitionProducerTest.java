// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import static io.github.murmuration.pulsar.spark.testing.PulsarStore.pulsar;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.pulsar.spark.testing.PulsarStore;
import io.github.murmuration.pulsar.spark.testing.TestPulsar;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the tasks of a JVM write to a partition goes through one producer. */
@Tag("core")
class PartitionProducerTest {
    private static final int TASKS = 8;
    private static final int EVENTS_OF_EACH = 150;

    @Test
    void longKeysOfAllTasksAreKeptInBatchesThatTheBrokerTakes() {
        String topic = TestPulsar.topic(pulsar().stream(1), 0);
        try (var lease = Connections.lease(new PulsarOptions(PulsarStore.STORE.where()))) {
            PartitionProducer producer = lease.connection().producer(topic);
            List<CompletableFuture<Void>> tasks = new ArrayList<>();
            for (int task = 0; task < TASKS; task++) {
                tasks.add(CompletableFuture.runAsync(() -> write(producer), each -> new Thread(each).start()));
            }
            tasks.forEach(CompletableFuture::join);
        }
    }

    private static void write(PartitionProducer producer) {
        List<CompletableFuture<?>> sent = new ArrayList<>();
        for (int number = 0; number < EVENTS_OF_EACH; number++) {
            sent.add(producer.send(UTF8String.fromString("k".repeat(20_000) + number), new byte[9000]));
        }
        producer.flush();
        sent.forEach(CompletableFuture::join);
    }
}
