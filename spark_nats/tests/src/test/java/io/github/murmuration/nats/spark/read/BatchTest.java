// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.nats.spark.testing.SparkTest;
import io.github.murmuration.nats.spark.testing.TestNats;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Batches that are written and read. */
@Tag("core")
class BatchTest extends SparkTest {
    @Test
    void whatIsWrittenIsRead() {
        String stream = nats().stream(3);
        append(stream, 0, 1000);
        assertEquals(range(0, 1000), numbers(stream));
    }

    @Test
    void columnsTellWhereAnEventIs() {
        String stream = nats().stream(2);
        long before = System.currentTimeMillis();
        nats().publish(stream, 1, "a%20key", new byte[] {1, 2, 3});
        nats().publish(stream, 1, null, new byte[0]);
        List<Row> rows = read(stream).orderBy("offset").collectAsList();
        Row row = rows.get(0);
        assertArrayEquals(new byte[] {1, 2, 3}, row.<byte[]>getAs("event"));
        assertEquals("a key", row.getAs("key"));
        assertEquals(stream, row.getAs("stream"));
        assertEquals(1, row.<Integer>getAs("partition"));
        assertEquals(1L, row.<Long>getAs("offset"));
        long written = row.<Timestamp>getAs("timestamp").getTime();
        assertTrue(written >= before - 1 && written <= System.currentTimeMillis(), () -> "at " + written);
        assertEquals(0, rows.get(1).<byte[]>getAs("event").length);
        assertNull(rows.get(1).getAs("key"));
    }

    @Test
    void someColumnsOrNoneCanBeRead() {
        String stream = nats().stream(2);
        append(stream, 0, 300);
        assertEquals(300, read(stream).count());
        assertEquals(300, read(stream).select("partition", "offset").distinct().count());
        assertEquals(16, read(stream).select("key").distinct().count());
    }

    @Test
    void anyTextIsAKeyAndAnEvent() {
        String stream = nats().stream(4);
        List<String> texts = List.of("", " ", "a b", "+", "%", "ünïcödé", "鳥の群れ", "🐦🐦", "line\r\nbreak", "a:b", "\t",
                "\u0000", "~*'()!", "x".repeat(20_000));
        List<Row> rows = texts.stream().map(text -> RowFactory.create(stream, text, "event of " + text)).toList();
        writer(spark().createDataFrame(rows, EVENTS), stream).save();
        List<String> keys = new ArrayList<>();
        for (Row row : read(stream).selectExpr("key", "string(event) AS event").collectAsList()) {
            assertEquals("event of " + row.getString(0), row.getString(1));
            keys.add(row.getString(0));
        }
        Collections.sort(keys);
        assertEquals(texts.stream().sorted().toList(), keys);
    }

    /** Of other clients: a space as + and as %20, and what URLEncoder leaves as it is. */
    @Test
    void keysOfOtherEncodersAreRead() {
        String stream = nats().stream(1);
        String key = "a b+c/ü~*";
        nats().publish(stream, 0, URLEncoder.encode(key, StandardCharsets.UTF_8), new byte[] {1});
        nats().publish(stream, 0, "a%20b%2Bc/%C3%BC~%2A", new byte[] {2});
        assertEquals(List.of(RowFactory.create(key), RowFactory.create(key)),
                read(stream).select("key").collectAsList());
    }

    @Test
    void eventsOfAKeyKeepTheirOrder() {
        String stream = nats().stream(3);
        Dataset<Row> ordered = spark().range(0, 6000, 1, 1)
                .selectExpr("concat('key-', id % 7) AS key", "string(id) AS event");
        writer(ordered, stream).option("batch_events", "100").save();
        for (Row of : read(stream).orderBy("partition", "offset").groupBy("key")
                .agg(functions.collect_list(functions.struct(
                        "partition", "offset", "event"))).collectAsList()) {
            List<Row> events = new ArrayList<>(of.getList(1));
            events.sort(java.util.Comparator.comparing(row -> row.getLong(1)));
            assertEquals(1, events.stream().map(row -> row.getInt(0)).distinct().count());
            long last = -1;
            for (Row event : events) {
                long number = Long.parseLong(new String(event.<byte[]>getAs(2), StandardCharsets.UTF_8));
                assertTrue(number > last);
                last = number;
            }
        }
    }

    @Test
    void eventsWithoutAKeyGoRound() {
        String stream = nats().stream(4);
        writer(spark().range(0, 400, 1, 1).selectExpr("'same' AS event"), stream).save();
        for (int partition = 0; partition < 4; partition++) {
            assertEquals(100, nats().state(stream, partition).getMsgCount());
        }
    }

    @Test
    void aLargeEventIsReadAsItWas() {
        String stream = nats().stream(1);
        byte[] event = new byte[1 << 20];
        Arrays.fill(event, (byte) 'x');
        event[12345] = 0;
        Dataset<Row> rows = spark().createDataFrame(Collections.nCopies(40, RowFactory.create(event)),
                new StructType().add("event", DataTypes.BinaryType));
        writer(rows, stream).save();
        assertEquals(40, read(stream).filter(functions.col("event")
                .equalTo(functions.lit(event))).count());
    }

    @Test
    void rowsNameTheirStream() {
        String first = nats().stream(1);
        String second = nats().stream(2);
        Dataset<Row> both = events(first, 0, 50).union(events(second, 50, 100));
        both.write().format("nats").mode("append").option("servers", server().url())
                .option("namespace", TestNats.NAMESPACE).save();
        assertEquals(range(0, 50), numbers(first));
        assertEquals(range(50, 100), numbers(second));
    }

    @Test
    void whatCannotBeIsRefused() {
        String stream = nats().stream(1);
        assertRefused(() -> read("no-such-stream").count(), "there is no stream test-ns/no-such-stream");
        assertRefused(() -> read("no_such").count(), "letters, digits and -");
        assertRefused(() -> writer(events(stream, 0, 1).select("key"), stream).save(), "the column event is missing");
        assertRefused(() -> writer(events(stream, 0, 1), stream).mode("overwrite").save(), "is not overwritten");
        assertRefused(() -> writer(events(stream, 0, 1), stream).option("batch_events", "0").save(), "batch_events");
        assertRefused(() -> writer(events(stream, 0, 30000), stream).option("batch_events", "20000").save(),
                "max_msgs: N");
    }
}
