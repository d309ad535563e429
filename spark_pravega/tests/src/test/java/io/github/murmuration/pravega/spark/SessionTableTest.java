// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.github.murmuration.pravega.spark.testing.CapturedLog;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables of Spark's own catalog, which are names for streams with options. */
class SessionTableTest extends SparkTest {
    @TempDir
    Path checkpoint;

    private final List<String> tables = new ArrayList<>();

    @AfterEach
    void drop() {
        tables.forEach(table -> spark().sql("DROP TABLE " + table));
    }

    @Test
    void aTableIsReadWrittenAndTruncatedBySql() {
        String stream = stream(2);
        table("events_by_sql", stream, "");
        append(stream, 0, 10);
        spark().sql("INSERT INTO events_by_sql SELECT concat('event-', 10 + id) AS event, 'key' AS routing_key"
                + " FROM range(5)");

        assertEquals(range(0, 15), numbers(spark().sql("SELECT event FROM events_by_sql")));
        assertEquals(range(0, 15), numbers(stream));
        spark().sql("TRUNCATE TABLE events_by_sql");
        assertEquals(0, spark().table("events_by_sql").count());
        append(stream, 20, 22);
        assertEquals(range(20, 22), numbers(spark().table("events_by_sql")));
    }

    @Test
    void whatAReadGivesWinsOverTheTable() {
        String stream = stream(1);
        table("events_from_the_tail", stream, ", START_STREAM_CUT 'latest'");
        append(stream, 0, 10);

        assertEquals(0, spark().table("events_from_the_tail").count());
        assertEquals(10, spark().read().option("start_stream_cut", "earliest").table("events_from_the_tail").count());
    }

    @Test
    void whatAWriteGivesWinsOverTheTable() throws Exception {
        String stream = stream(1);
        String other = stream(1);
        table("events_to_one", stream, "");
        events(stream, 0, 5).drop("stream").writeTo("events_to_one").option("stream", other).append();

        assertEquals(List.of(), numbers(stream));
        assertEquals(range(0, 5), numbers(other));
    }

    @Test
    void aQueryCopiesOneTableIntoAnother() throws Exception {
        String source = stream(2);
        String target = stream(2);
        table("source_events", source, ", start_stream_cut 'earliest'");
        table("target_events", target, "");
        append(source, 0, 20);
        StreamingQuery query = spark().readStream().table("source_events").select("event").writeStream()
                .option("checkpointLocation", checkpoint.toString()).toTable("target_events");
        query.processAllAvailable();
        append(source, 20, 30);
        query.processAllAvailable();
        query.stop();

        assertEquals(range(0, 30), numbers(target));
    }

    @Test
    void aTableOfSeveralStreamsTakesThemFromTheRows() {
        String one = stream(1);
        String other = stream(1);
        table("events_of_all", null, "");
        events(one, 0, 5).union(events(other, 5, 8)).write().insertInto("events_of_all");

        assertEquals(range(0, 5), numbers(one));
        assertEquals(range(5, 8), numbers(other));
        assertRefused(() -> spark().sql("TRUNCATE TABLE events_of_all"), "option stream is missing");
    }

    @Test
    void rowsWithoutNamesAreRefusedWithTheWayOut() {
        table("events_by_position", stream(1), "");
        assertRefused(() -> spark().sql("INSERT INTO events_by_position VALUES ('one')"), "AS event");
    }

    @Test
    void namesOfColumnsMayStandBeforeTheValues() {
        String stream = stream(1);
        table("events_by_name", stream, "");
        spark().sql("INSERT INTO events_by_name (event) VALUES (binary('event-1')), (binary('event-2'))");
        assertEquals(range(1, 3), numbers(stream));
    }

    @Test
    void whatSparkKeepsOfATableIsNoUnknownOption() {
        try (CapturedLog log = new CapturedLog()) {
            table("quiet_events", stream(1), "");
            assertEquals(0, spark().table("quiet_events").count());
            assertFalse(log.text().contains("has no option"), log::text);
        }
    }

    @Test
    void aTemporaryViewIsReadAndWritten() {
        String stream = stream(1);
        spark().sql("CREATE TEMPORARY VIEW viewed_events USING pravega OPTIONS (controller '"
                + DurablePravega.controllerUri() + "', scope '" + SCOPE + "', stream '" + stream + "')");
        spark().sql("INSERT INTO viewed_events SELECT concat('event-', id) AS event FROM range(3)");
        Dataset<Row> events = spark().sql("SELECT * FROM viewed_events");

        assertEquals(range(0, 3), numbers(events));
        spark().catalog().dropTempView("viewed_events");
    }

    private void table(String name, String stream, String otherOptions) {
        String target = stream == null ? "" : ", stream '" + stream + "'";
        spark().sql("CREATE TABLE " + name + " USING pravega OPTIONS (controller '" + DurablePravega.controllerUri()
                + "', scope '" + SCOPE + "'" + target + otherOptions + ")");
        tables.add(name);
    }
}
