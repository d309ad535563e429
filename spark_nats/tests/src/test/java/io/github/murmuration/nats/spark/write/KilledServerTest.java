// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.nats.spark.testing.NatsServer;
import io.github.murmuration.nats.spark.testing.SparkTest;
import io.github.murmuration.nats.spark.testing.TestNats;
import java.nio.file.Path;
import java.util.Random;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server is killed and comes back while a query reads from it and writes to it. */
class KilledServerTest extends SparkTest {
    @TempDir
    Path folder;

    @Test
    void theQueryGoesOn() throws Exception {
        isKilled(3, 20_000);
    }

    @Test
    @Tag("long")
    void theQueryGoesOnAgainAndAgain() throws Exception {
        isKilled(15, 200_000);
    }

    private void isKilled(int times, int events) throws Exception {
        try (NatsServer killed = new NatsServer(1, 10_000); TestNats beside = new TestNats(killed.url())) {
            String source = beside.stream(2);
            String target = beside.stream(3);
            spark().range(0, events, 1, 2).selectExpr("string(id) AS event", "concat('key-', id % 100) AS key")
                    .write().format("nats").mode("append").option("servers", killed.url())
                    .option("namespace", TestNats.NAMESPACE).option("stream", source).save();
            StreamingQuery query = spark().readStream().format("nats").option("servers", killed.url())
                    .option("namespace", TestNats.NAMESPACE).option("stream", source)
                    .option("starting_offsets", "earliest").option("max_events_per_trigger", events / 20).load()
                    .writeStream().format("nats").option("servers", killed.url())
                    .option("namespace", TestNats.NAMESPACE).option("stream", target).option("batch_events", "200")
                    .option("checkpointLocation", folder.toString()).trigger(Trigger.AvailableNow()).start();
            Random random = new Random(1);
            int killings = 0;
            for (; killings < times && query.isActive(); killings++) {
                Thread.sleep(200 + random.nextInt(1000));
                killed.kill();
                Thread.sleep(random.nextInt(500));
                killed.start();
            }
            assertTrue(killings > 1, "the server was not killed twice while the query ran");
            query.awaitTermination();
            Dataset<Row> copied = spark().read().format("nats").option("servers", killed.url())
                    .option("namespace", TestNats.NAMESPACE).option("stream", target).load();
            assertEquals(events, copied.count());
            assertEquals(events, copied.selectExpr("string(event)").distinct().count());
        }
    }
}
