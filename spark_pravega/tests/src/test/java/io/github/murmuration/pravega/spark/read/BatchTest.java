// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.CapturedLog;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("core")
class BatchTest extends SparkTest {
    @Test
    void whatIsWrittenIsReadWithItsPlaceInTheStream() {
        String stream = stream(2);
        append(stream, 0, 100);

        Dataset<Row> events = read(stream);
        assertEquals(List.of("event", "scope", "stream", "segment_id", "offset"), List.of(events.columns()));
        assertEquals(range(0, 100), numbers(stream));
        Row place = events.select("scope", "stream").distinct().collectAsList().get(0);
        assertEquals(SCOPE, place.getString(0));
        assertEquals(stream, place.getString(1));
        assertEquals(100, events.select("segment_id", "offset").distinct().count());
        assertEquals(2, events.select("segment_id").distinct().count());
        assertEquals(100, events.count());
    }

    @Test
    void aKeyKeepsItsOrder() {
        String stream = stream(2);
        events(stream, 0, 1000).coalesce(1).sortWithinPartitions(functions.expr("int(substring(event, 7))"))
                .write().format("pravega").mode("append").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).save();

        List<Integer> numbers = read(stream).orderBy("segment_id", "offset").selectExpr("string(event)")
                .collectAsList().stream().map(row -> Integer.valueOf(row.getString(0).substring(6)))
                .filter(number -> number % 16 == 5).toList();
        assertEquals(numbers.stream().sorted().toList(), numbers);
    }

    @Test
    void theStreamColumnChoosesTheTarget() {
        String one = stream(1);
        String other = stream(1);
        events(one, 0, 50).union(events(other, 50, 80)).write().format("pravega").mode("append")
                .option("controller", DurablePravega.controllerUri()).option("scope", SCOPE).save();

        assertEquals(range(0, 50), numbers(one));
        assertEquals(range(50, 80), numbers(other));
    }

    @Test
    void withoutTransactionsEverythingArrivesToo() {
        String stream = stream(2);
        events(stream, 0, 100).drop("routing_key").write().format("pravega").mode("append")
                .option("controller", DurablePravega.controllerUri()).option("scope", SCOPE)
                .option("exactly_once", "false").save();

        assertEquals(range(0, 100), numbers(stream));
    }

    @Test
    void streamCutsBoundARead() {
        String stream = stream(2);
        append(stream, 0, 10);
        String tail = spark().read().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).option("stream", stream).option("metadata", "StreamInfo").load()
                .collectAsList().get(0).getString(1);
        append(stream, 10, 30);

        Dataset<Row> later = spark().read().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).option("stream", stream).option("start_stream_cut", tail).load();
        assertEquals(20, later.count());
        Dataset<Row> earlier = spark().read().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).option("stream", stream).option("end_stream_cut", tail).load();
        assertEquals(10, earlier.count());
    }

    @Test
    void aFailedTaskLeavesNothingBehind() {
        String stream = stream(1);
        Dataset<Row> failing = events(stream, 0, 100)
                .withColumn("event", functions.expr("if(event = 'event-70', raise_error('half way'), event)"));

        assertThrows(Exception.class, () -> failing.write().format("pravega").mode("append")
                .option("controller", DurablePravega.controllerUri()).option("scope", SCOPE).save());
        assertTrue(numbers(stream).isEmpty());
    }

    @Test
    void aTaskThatFailsHalfWayAndIsRetriedWritesOnce() {
        String stream = stream(1);
        spark().udf().register("fail_once", (String event) -> {
            if (event.equals("event-70") && TaskContext.get().attemptNumber() == 0) {
                throw new IllegalStateException("first attempt");
            }
            return event;
        }, DataTypes.StringType);
        events(stream, 0, 100).withColumn("event", functions.expr("fail_once(event)"))
                .write().format("pravega").mode("append")
                .option("controller", DurablePravega.controllerUri()).option("scope", SCOPE).save();

        assertEquals(range(0, 100), numbers(stream));
    }

    /** A hundred events of 17 bytes. */
    @Test
    void sizeAndBytesReadAreToldToSpark() {
        String stream = stream(2);
        append(stream, 100, 200);
        Dataset<Row> events = read(stream);
        assertEquals(1700, events.queryExecution().optimizedPlan().stats().sizeInBytes().toLong());
        assertEquals(100, events.collectAsList().size());
        assertEquals(1700,
                events.queryExecution().executedPlan().collectLeaves().head().longMetric("bytesRead").value());
    }

    @Test
    void optionsThatDoNothingAreToldOnce() {
        String stream = stream(1);
        try (CapturedLog log = new CapturedLog()) {
            for (int times = 0; times < 2; times++) {
                spark().read().format("pravega").option("controller", DurablePravega.controllerUri())
                        .option("scope", SCOPE).option("stream", stream).option("max_bytes_per_trigger", 1)
                        .load().count();
            }
            String told = "the option max_bytes_per_trigger does nothing in a batch read";
            assertEquals(2, log.text().split(told, -1).length, "told once:\n" + log.text());
        }
    }
}
