// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** Batches that are written and read, whatever the store. */
public abstract class BatchContract extends SourceTest {
    protected BatchContract(TestStore store) {
        super(store);
    }

    /** Options by which a batch is written in many pieces, where the store has such. */
    protected Map<String, String> inPieces() {
        return Map.of();
    }

    @Test
    void whatIsWrittenIsRead() {
        String stream = store().stream(3);
        append(stream, 0, 1000);
        assertEquals(range(0, 1000), numbers(stream));
    }

    @Test
    void columnsTellWhereAnEventIs() {
        String stream = store().stream(2);
        long before = System.currentTimeMillis();
        store().publish(stream, 1, "a key", new byte[] {1, 2, 3});
        store().publish(stream, 1, null, new byte[0]);
        List<Row> rows = read(stream).orderBy("offset").collectAsList();
        Row row = rows.get(0);
        assertArrayEquals(new byte[] {1, 2, 3}, row.<byte[]>getAs("event"));
        assertEquals("a key", row.getAs("key"));
        assertEquals(stream, row.getAs("stream"));
        assertEquals(1, row.<Integer>getAs("partition"));
        assertEquals(store().firstOffset(), row.<Long>getAs("offset"));
        assertTrue(row.<Long>getAs("offset") < rows.get(1).<Long>getAs("offset"));
        long written = row.<Timestamp>getAs("timestamp").getTime();
        assertTrue(written >= before - 1 && written <= System.currentTimeMillis(), () -> "at " + written);
        assertEquals(0, rows.get(1).<byte[]>getAs("event").length);
        assertNull(rows.get(1).getAs("key"));
    }

    @Test
    void someColumnsOrNoneCanBeRead() {
        String stream = store().stream(2);
        append(stream, 0, 300);
        assertEquals(300, read(stream).count());
        assertEquals(300, read(stream).select("partition", "offset").distinct().count());
        assertEquals(16, read(stream).select("key").distinct().count());
    }

    @Test
    void anyTextIsAKeyAndAnEvent() {
        String stream = store().stream(4);
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

    @Test
    void eventsOfAKeyKeepTheirOrder() {
        String stream = store().stream(3);
        Dataset<Row> ordered = spark().range(0, 6000, 1, 1)
                .selectExpr("concat('key-', id % 7) AS key", "string(id) AS event");
        writer(ordered, stream).options(inPieces()).save();
        for (Row of : read(stream).groupBy("key").agg(functions.collect_list(functions.struct(
                "partition", "offset", "event"))).collectAsList()) {
            List<Row> events = new ArrayList<>(of.getList(1));
            events.sort(Comparator.comparing(row -> row.getLong(1)));
            CRC32 checksum = new CRC32(); // by which all writers of a stream choose the partition
            checksum.update(of.getString(0).getBytes(StandardCharsets.UTF_8));
            assertEquals(List.of((int) (checksum.getValue() % 3)),
                    events.stream().map(row -> row.getInt(0)).distinct().toList());
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
        String stream = store().stream(4);
        writer(spark().range(0, 400, 1, 1).selectExpr("'same' AS event"), stream).save();
        List<Row> counts = read(stream).groupBy("partition").count().collectAsList();
        assertEquals(4, counts.size());
        for (Row of : counts) {
            assertEquals(100, of.getLong(1));
        }
    }

    @Test
    void aLargeEventIsReadAsItWas() {
        String stream = store().stream(1);
        byte[] event = new byte[1 << 20];
        Arrays.fill(event, (byte) 'x');
        event[12345] = 0;
        Dataset<Row> rows = spark().createDataFrame(Collections.nCopies(40, RowFactory.create(event)),
                new StructType().add("event", DataTypes.BinaryType));
        writer(rows, stream).save();
        assertEquals(40, read(stream).filter(functions.col("event").equalTo(functions.lit(event))).count());
    }

    @Test
    void rowsNameTheirStream() {
        String first = store().stream(1);
        String second = store().stream(2);
        Dataset<Row> both = events(first, 0, 50).union(events(second, 50, 100));
        both.write().format(store().format()).mode("append").options(store().where()).save();
        assertEquals(range(0, 50), numbers(first));
        assertEquals(range(50, 100), numbers(second));
    }

    @Test
    void whatCannotBeIsRefused() {
        String stream = store().stream(1);
        assertRefused(() -> writer(events(stream, 0, 1).select("key"), stream).save(), "the column event is missing");
        assertRefused(() -> writer(events(stream, 0, 1), stream).mode("overwrite").save(), "is not overwritten");
    }
}
