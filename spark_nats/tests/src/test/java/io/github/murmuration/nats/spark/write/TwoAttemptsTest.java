// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import static io.github.murmuration.nats.spark.testing.NatsStore.nats;
import static io.github.murmuration.nats.spark.testing.NatsStore.server;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.common.write.EventColumns;
import io.github.murmuration.nats.spark.testing.SparkTest;
import io.github.murmuration.nats.spark.testing.TestNats;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two attempts of a task write at the same time, as when Spark speculates. */
@Tag("core")
class TwoAttemptsTest extends SparkTest {
    private static final int ROWS = 3000;

    @Test
    void writeEachRowOnce() {
        for (int batch : new int[] {10_000, 200}) {
            String target = nats().stream(3);
            NatsOptions options = new NatsOptions(Map.of("servers", server().url(), "namespace", TestNats.NAMESPACE,
                    "stream", target, "batch_events", Integer.toString(batch)));
            EpochPlan plan = new EpochPlan(UUID.randomUUID().toString(),
                    new EpochRecord(0, 1, "run", new TreeMap<>()), EpochPlan.Kind.NEW);
            long done = List.of(false, true).parallelStream()
                    .filter(again -> isDone(options, target, plan, again)).count();
            assertTrue(done >= 1);
            assertEquals(range(0, ROWS), numbers(target));
        }
    }

    private static boolean isDone(NatsOptions options, String target, EpochPlan plan, boolean again) {
        EventColumns columns = new EventColumns(
                new StructType().add("event", DataTypes.StringType), "key", Optional.of(target));
        EpochDataWriter writer = new EpochDataWriter(options, columns, plan, 0, again);
        try {
            IntStream.range(0, ROWS).map(number -> again ? ROWS - 1 - number : number).forEach(number -> {
                InternalRow row = new GenericInternalRow(new Object[] {UTF8String.fromString("event-" + number)});
                writer.write(row);
            });
            writer.commit();
            return true;
        } catch (io.github.murmuration.nats.spark.client.ApiException fenced) {
            return false;
        } finally {
            writer.close();
        }
    }
}
