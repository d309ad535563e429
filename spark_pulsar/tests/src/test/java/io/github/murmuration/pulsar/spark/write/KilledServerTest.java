// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.write;

import static io.github.murmuration.pulsar.spark.testing.PulsarStore.where;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pulsar.spark.testing.PulsarServer;
import io.github.murmuration.pulsar.spark.testing.SparkTest;
import io.github.murmuration.pulsar.spark.testing.TestPulsar;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server is killed and comes back, with what it held, while a query reads from it and writes to it. */
class KilledServerTest extends SparkTest {
    private static final int EVENTS = 40_000;
    private static final int TIMES = 3;

    @TempDir
    Path folder;

    @Test
    void theQueryGoesOnAndLosesNothing() throws Exception {
        try (PulsarServer killed = new PulsarServer();
                TestPulsar beside = new TestPulsar(killed.service(), killed.admin())) {
            Map<String, String> where = where(killed);
            String source = beside.stream(2);
            String target = beside.stream(3);
            spark().range(0, EVENTS, 1, 2).selectExpr("string(id) AS event", "concat('key-', id % 100) AS key")
                    .write().format("pulsar").mode("append").options(where).option("stream", source).save();
            StreamingQuery query = copy(where, source, target).start();
            Random random = new Random(1);
            int times = 0;
            for (; times < TIMES && query.isActive(); times++) {
                Thread.sleep(500 + random.nextInt(1000));
                killed.kill();
                Thread.sleep(random.nextInt(500));
                killed.start();
            }
            assertTrue(times > 1 || query.exception().isDefined(), "the server was not killed twice in time");
            endOrBeginAnew(query, where, source, target);
            Dataset<Row> copied = spark().read().format("pulsar").options(where).option("stream", target).load();
            assertEquals(EVENTS, copied.selectExpr("string(event)").distinct().count());
        }
    }

    private DataStreamWriter<Row> copy(Map<String, String> where, String source, String target) {
        return spark().readStream().format("pulsar").options(where).option("stream", source)
                .option("starting_offsets", "earliest").option("max_events_per_trigger", EVENTS / 20).load()
                .writeStream().format("pulsar").options(where).option("stream", target)
                .option("checkpointLocation", folder.toString()).trigger(Trigger.AvailableNow());
    }

    /** On a busy machine the server may take longer to start than the query waits: then it is begun anew. */
    private void endOrBeginAnew(StreamingQuery query, Map<String, String> where, String source, String target)
            throws Exception {
        try {
            query.awaitTermination();
        } catch (StreamingQueryException failed) {
            assertFalse(failed.getMessage().contains("PULSAR_DATA_LOSS"), failed::getMessage);
            copy(where, source, target).start().awaitTermination();
        }
    }
}
