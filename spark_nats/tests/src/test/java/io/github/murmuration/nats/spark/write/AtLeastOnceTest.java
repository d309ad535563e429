// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import static io.github.murmuration.nats.spark.testing.NatsStore.LARGEST_BATCH;
import static io.github.murmuration.nats.spark.testing.NatsStore.nats;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.nats.shaded.io.nats.client.KeyValue;
import io.github.murmuration.nats.spark.testing.SparkTest;
import io.github.murmuration.nats.spark.testing.TestNats;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a query does with and without exactly once, and where it cannot write. */
@Tag("core")
class AtLeastOnceTest extends SparkTest {
    @TempDir
    Path folder;

    @Test
    void aRepeatedEpochIsWrittenAgain() throws Exception {
        String source = nats().stream(2);
        String target = nats().stream(2);
        append(source, 0, 200);
        run(copy(readStream(source).load(), target, folder).option("exactly_once", "false"));
        assertEquals(range(0, 200), numbers(target));
        undoTheFirstBatch(folder);
        run(copy(readStream(source).load(), target, folder).option("exactly_once", "false"));
        assertEquals(400, numbers(target).size());
    }

    @Test
    void theRecordTellsOfTheNewestEpoch() throws Exception {
        String source = nats().stream(1);
        String target = nats().stream(1);
        append(source, 0, 10);
        run(copy(readStream(source).load(), target, folder));
        append(source, 10, 30);
        run(copy(readStream(source).load(), target, folder));
        KeyValue records = nats().connection().keyValue(TestNats.NAMESPACE + "_spark");
        String query = Files.readString(folder.resolve("metadata")).replaceAll(".*\"id\":\"([^\"]*)\".*", "$1").trim();
        String record = records.get(query).getValueAsString();
        assertTrue(record.startsWith("{\"epoch\":1,\"tasks\":1,"), record);
        assertTrue(record.contains("\"last\":{\"" + TestNats.jetStream(target, 0) + "\":10}"), record);
    }

    @Test
    void aStreamThatTakesNoBatchesIsNamed() throws Exception {
        String target = "plain-stream";
        nats().connection().jetStreamManagement().addStream(
                io.github.murmuration.nats.shaded.io.nats.client.api.StreamConfiguration.builder()
                        .name(TestNats.jetStream(target, 0)).subjects(TestNats.NAMESPACE + "." + target + ".0.>")
                        .build());
        assertRefused(() -> append(target, 0, 10), "Set allow_atomic of the stream");
    }

    @Test
    void anEpochThatIsTooLargeForTheServerIsRefused() throws Exception {
        String source = nats().stream(1);
        String target = nats().stream(1);
        append(source, 0, LARGEST_BATCH + 10);
        assertRefused(() -> run(copy(readStream(source).load(), target, folder).option("batch_events", "20000")),
                "max_msgs: N");
        run(copy(readStream(source).load(), target, folder));
        assertEquals(range(0, LARGEST_BATCH + 10), numbers(target));
    }

    @Test
    void anEventThatIsTooLargeForTheServerIsRefused() {
        String target = nats().stream(1);
        assertRefused(() -> writer(spark().range(1).selectExpr("repeat('x', 5000000) AS event"), target).save(),
                "an event of 5000000 bytes takes ");
    }
}
