// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import static io.github.murmuration.nats.spark.testing.NatsStore.LARGEST_BATCH;
import static io.github.murmuration.nats.spark.testing.NatsStore.nats;
import static io.github.murmuration.nats.spark.testing.NatsStore.server;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.nats.spark.testing.NatsServer;
import io.github.murmuration.nats.spark.testing.SparkTest;
import io.github.murmuration.nats.spark.testing.TestNats;
import java.sql.Timestamp;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** So many events that a consumer pulls them. */
class ManyEventsTest extends SparkTest {
    /** Number of a server of its own. */
    private static final int LARGE_EVENTS = 7;

    /** Requests end by their bytes, small events and large ones in turns. */
    @Test
    void eventsOfAllSizesAreRead() {
        String stream = nats().stream(1);
        writer(spark().range(0, 4000, 1, 1).selectExpr(
                "concat(id, ':', repeat('x', int(IF(int(id / 500) % 2 = 0, 20, IF(id % 100 = 0, 1000000, 20000))))) "
                + "AS event"), stream).option("batch_events", "500").save();
        assertEquals(4000, read(stream).selectExpr("string(event) AS event")
                .selectExpr("split(event, ':')[0] AS id", "length(split(event, ':')[1]) AS size")
                .filter("size = IF(int(id / 500) % 2 = 0, 20, IF(id % 100 = 0, 1000000, 20000))").distinct().count());
    }

    /** One event takes more bytes than what is pulled at once. */
    @Test
    @Timeout(90)
    void aVeryLargeEventIsRead() throws Exception {
        try (NatsServer server = new NatsServer(LARGE_EVENTS, LARGEST_BATCH, "16MB");
                TestNats nats = new TestNats(server.url())) {
            String stream = nats.stream(1);
            writer(spark().range(0, 3000, 1, 1)
                    .selectExpr("concat(id, ':', repeat('x', IF(id = 1700, 9 << 20, 20))) AS event"), stream)
                    .option("servers", server.url()).save();
            assertEquals(List.of(RowFactory.create(3000L, 3000L, (9 << 20) + 5)), spark().read().format("nats")
                    .option("servers", server.url()).option("namespace", TestNats.NAMESPACE).option("stream", stream)
                    .load().selectExpr("count(1)", "count(distinct offset)", "max(length(event))").collectAsList());
        }
    }

    @Test
    void columnsAreThoseOfFewEvents() {
        String stream = nats().stream(1);
        long before = System.currentTimeMillis();
        writer(spark().range(0, 1500, 1, 1).selectExpr("string(id) AS event", "concat('key ', id) AS key"), stream)
                .save();
        Row last = read(stream).filter("offset = 1400").collectAsList().get(0);
        assertEquals("key 1399", last.getAs("key"));
        assertEquals(0, last.<Integer>getAs("partition"));
        long written = last.<Timestamp>getAs("timestamp").getTime();
        assertTrue(written >= before - 1 && written <= System.currentTimeMillis(), () -> "at " + written);
        assertEquals(1500, read(stream).selectExpr("offset - int(string(event)) AS first").filter("first = 1").count());
    }

    @Test
    void aGapIsMissed() {
        String stream = nats().stream(1);
        writer(spark().range(0, 3000, 1, 1).selectExpr("string(id) AS event"), stream).save();
        for (long sequence = 1200; sequence < 1210; sequence++) {
            nats().deleteMessage(stream, 0, sequence);
        }
        assertRefused(() -> read(stream).select("event").distinct().count(),
                "NATS_DATA_LOSS: in " + TestNats.jetStream(stream, 0) + " wanted sequence 1200, found 1210: 10 events");
        assertEquals(2990, spark().read().format("nats").option("servers", server().url())
                .option("namespace", TestNats.NAMESPACE).option("stream", stream)
                .option("fail_on_data_loss", "false").load().select("event").distinct().count());
        nats().deleteMessage(stream, 0, 3000);
        assertRefused(() -> spark().read().format("nats").option("servers", server().url())
                .option("namespace", TestNats.NAMESPACE).option("stream", stream).load().select("offset")
                .filter("offset > 0").distinct().count(), "NATS_DATA_LOSS");
    }
}
