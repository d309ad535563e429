// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.write.epoch.EpochLog;
import io.pravega.client.stream.RetentionPolicy;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.StreamConfiguration;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scopes and streams through SQL and through what PySpark and Scala make of it. */
class CatalogTest extends CatalogsTest {
    @TempDir
    Path checkpoint;

    @Test
    void aScopeIsCreatedListedAndDropped() {
        sql("CREATE NAMESPACE pravega.orders");
        sql("CREATE NAMESPACE IF NOT EXISTS pravega.orders");
        assertTrue(column(sql("SHOW NAMESPACES IN pravega"), 0).contains("orders"));
        assertFalse(column(sql("SHOW NAMESPACES IN pravega"), 0).contains("_system"));
        assertEquals(List.of(), column(sql("SHOW NAMESPACES IN pravega.orders"), 0));

        sql("DROP NAMESPACE pravega.orders");
        sql("DROP NAMESPACE IF EXISTS pravega.orders");
        assertFalse(streams().checkScopeExists("orders"));
    }

    @Test
    void aStreamIsCreatedAsItsPropertiesTell() {
        sql("CREATE TABLE pravega.test.`created-1` USING pravega TBLPROPERTIES (default_num_segments = 3,"
                + " default_segment_target_rate_bytes_per_sec = 20480, default_scale_factor = 4,"
                + " default_retention_duration_milliseconds = 60000)");
        sql("CREATE TABLE IF NOT EXISTS pravega.test.`created-1`");
        sql("CREATE TABLE pravega.test.`created-2` (event BINARY, scope STRING, stream STRING, segment_id BIGINT,"
                + " offset BIGINT) USING pravega OPTIONS (default_retention_size_bytes = 1000)");
        sql("CREATE TABLE limited.test.`created-3`");

        assertEquals(ScalingPolicy.byDataRate(20, 4, 3), configuration("created-1").getScalingPolicy());
        assertEquals(RetentionPolicy.byTime(Duration.ofMinutes(1)), configuration("created-1").getRetentionPolicy());
        assertEquals(ScalingPolicy.fixed(1), configuration("created-2").getScalingPolicy());
        assertEquals(RetentionPolicy.bySizeBytes(1000), configuration("created-2").getRetentionPolicy());
        assertEquals(ScalingPolicy.fixed(2), configuration("created-3").getScalingPolicy());
    }

    @Test
    void pravegaMayBeSparksDefaultFormat() {
        spark().conf().set("spark.sql.sources.default", "pravega");
        try {
            sql("CREATE TABLE pravega.test.`created-4` USING pravega");
        } finally {
            spark().conf().unset("spark.sql.sources.default");
        }
        assertTrue(streams().checkStreamExists(SCOPE, "created-4"));
    }

    @Test
    void tablesAreListedWithoutWhatIsNotForUsers() throws Exception {
        sql("CREATE NAMESPACE pravega.listed");
        sql("CREATE TABLE pravega.listed.source");
        sql("INSERT INTO pravega.listed.source SELECT 'event-1' AS event");
        StreamingQuery query = spark().readStream().option("start_stream_cut", "earliest")
                .table("pravega.listed.source").writeStream()
                .option("checkpointLocation", checkpoint.toString()).toTable("pravega.listed.target");
        query.processAllAvailable();
        query.stop();

        List<String> tables = column(sql("SHOW TABLES IN pravega.listed"), 1);
        assertEquals(List.of("source", "target"), tables.stream().sorted().toList());
        assertTrue(keyValueTables("listed").contains(EpochLog.TABLE));
        sql("DROP TABLE pravega.listed.source PURGE");
        sql("DROP TABLE pravega.listed.target PURGE");
        sql("DROP NAMESPACE pravega.listed");
        assertFalse(streams().checkScopeExists("listed"));
    }

    @Test
    void aTableIsWrittenAndReadBySql() {
        String stream = stream(2);
        sql("INSERT INTO " + table(stream)
                + " SELECT concat('event-', id) AS event, concat('key-', id % 3) AS routing_key FROM range(20)");
        assertEquals(range(0, 20), numbers(sql("SELECT * FROM " + table(stream))));
        assertEquals(List.of(stream), column(sql("SELECT DISTINCT stream FROM " + table(stream)), 0));
    }

    @Test
    void theCatalogsScopeIsTheOneThatIsNotNamed() {
        String stream = stream(1);
        append(stream, 0, 4);
        assertEquals(range(0, 4), numbers(sql("SELECT event FROM limited.`" + stream + "`")));
        sql("USE limited");
        try {
            assertEquals(range(0, 4), numbers(sql("SELECT event FROM `" + stream + "`")));
        } finally {
            sql("USE spark_catalog.default");
        }
    }

    @Test
    void optionsOfACatalogHoldForItsReadsUnlessTheseGiveOthers() {
        String stream = stream(1);
        append(stream, 0, 4);
        String table = "tail.test.`" + stream + "`";
        assertEquals(0, spark().table(table).count());
        assertEquals(4, spark().read().option("start_stream_cut", "earliest").table(table).count());
    }

    @Test
    void aQueryCreatesItsTargetAndCopiesIntoIt() throws Exception {
        String source = stream(2);
        append(source, 0, 20);
        StreamingQuery query = spark().readStream().option("start_stream_cut", "earliest").table(table(source))
                .selectExpr("event", "left(string(event), 7) AS routing_key").writeStream()
                .option("checkpointLocation", checkpoint.toString()).toTable("limited.test.copied");
        query.processAllAvailable();
        append(source, 20, 30);
        query.processAllAvailable();
        query.stop();

        assertEquals(range(0, 30), numbers("copied"));
        assertEquals(2, configuration("copied").getScalingPolicy().getMinNumSegments());
    }

    @Test
    void aTableIsCreatedFromAQuery() throws Exception {
        sql("CREATE TABLE pravega.test.selected AS SELECT concat('event-', id) AS event FROM range(5)");
        Dataset<Row> selected = sql("SELECT * FROM pravega.test.selected");
        selected.writeTo("pravega.test.copy").tableProperty("default_num_segments", "2").create();
        selected.writeTo("pravega.test.copy").append();
        selected.write().mode("append").saveAsTable("pravega.test.copy");

        assertEquals(range(0, 5), numbers("selected"));
        assertEquals(range(0, 5).stream().flatMap(number -> List.of(number, number, number).stream()).toList(),
                numbers("copy"));
        assertEquals(ScalingPolicy.fixed(2), configuration("copy").getScalingPolicy());
    }

    @Test
    void aDroppedTableMayBeCreatedAnew() {
        sql("CREATE TABLE pravega.test.again TBLPROPERTIES (default_num_segments = 2)");
        sql("INSERT INTO pravega.test.again SELECT 'event-1' AS event");
        sql("DROP TABLE pravega.test.again PURGE");
        assertFalse(streams().checkStreamExists(SCOPE, "again"));
        sql("DROP TABLE IF EXISTS pravega.test.again PURGE");

        append("again", 5, 8);
        assertEquals(range(5, 8), numbers(sql("SELECT * FROM pravega.test.again")));
    }

    @Test
    void propertiesChange() {
        String stream = stream(1);
        append(stream, 0, 10);
        sql("ALTER TABLE " + table(stream)
                + " SET TBLPROPERTIES (default_num_segments = 3, default_retention_size_bytes = 1000000)");
        assertEquals(ScalingPolicy.fixed(3), configuration(stream).getScalingPolicy());
        assertEquals(RetentionPolicy.bySizeBytes(1000000), configuration(stream).getRetentionPolicy());

        sql("ALTER TABLE " + table(stream) + " UNSET TBLPROPERTIES (default_retention_size_bytes)");
        assertNull(configuration(stream).getRetentionPolicy());
        append(stream, 10, 60);
        assertEquals(range(0, 60), numbers(stream));
        assertEquals(4, read(stream).select("segment_id").distinct().count());
    }

    @Test
    void aTableIsTruncatedForAllItsReaders() {
        String stream = stream(2);
        append(stream, 0, 10);
        sql("TRUNCATE TABLE " + table(stream));
        assertEquals(List.of(), numbers(stream));
        append(stream, 10, 12);
        assertEquals(range(10, 12), numbers(stream));
        sql("DELETE FROM " + table(stream));
        assertEquals(List.of(), numbers(stream));
    }

    @Test
    void aTableIsDescribedWithoutSecrets() {
        sql("CREATE TABLE pravega.test.described TBLPROPERTIES (default_num_segments = 3,"
                + " default_retention_size_bytes = 5000)");
        String table = "secretive.test.described";
        String shown = sql("DESCRIBE TABLE EXTENDED " + table).collectAsList().toString()
                + sql("SHOW TBLPROPERTIES " + table).collectAsList()
                + sql("SHOW CREATE TABLE " + table).collectAsList() + sql("EXPLAIN EXTENDED SELECT * FROM " + table)
                .collectAsList();
        assertTrue(shown.contains("[default_num_segments,3]"), shown);
        assertTrue(shown.contains("'default_retention_size_bytes' = '5000'"), shown);
        assertTrue(shown.contains("USING pravega"), shown);
        assertFalse(shown.contains(TOKEN), shown);
    }

    private static StreamConfiguration configuration(String stream) {
        return streams().fetchStreamInfo(SCOPE, stream).join().getStreamConfiguration();
    }

    private static List<String> keyValueTables(String scope) {
        try (Connections.Lease lease = Connections.lease(connection())) {
            List<String> names = new ArrayList<>();
            lease.connection().controller().listKeyValueTables(scope).asIterator()
                    .forEachRemaining(table -> names.add(table.getKeyValueTableName()));
            return names;
        }
    }
}
