// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Queries in Spark's Real-Time Mode. The tests' Spark has two task slots. */
class RealTimeTest extends SparkTest {
    private static final long BATCH_MS = 1000;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    @AfterEach
    void stopAll() throws Exception {
        for (StreamingQuery query : spark().streams().active()) {
            query.stop();
        }
    }

    @Test
    void eventsAreCopiedAsTheyCome() throws Exception {
        String source = stream(2);
        String target = stream(2);
        try (Feed feed = new Feed(source); Arrivals arrivals = new Arrivals(target)) {
            feed.send(100);
            StreamingQuery query = copy(source, target).start();
            arrivals.await(100, LIMIT);
            for (int batch = 0; batch < 4; batch++) {
                feed.send(25, BATCH_MS);
            }
            arrivals.await(200, LIMIT);
            awaitBatches(query, 2);
            arrivals.assertOnceAndInOrder();
            assertEquals("0", query.lastProgress().sources()[0].metrics().get("lagBytes"));
        }
    }

    @Test
    void aQueryGoesOnFromItsCheckpointInAnyMode() throws Exception {
        String source = stream(2);
        String target = stream(1);
        try (Feed feed = new Feed(source); Arrivals arrivals = new Arrivals(target)) {
            for (int round = 1; round <= 3; round++) {
                StreamingQuery realTime = copy(source, target).start();
                feed.send(30);
                arrivals.await(feed.sent(), LIMIT);
                awaitBatches(realTime, 2);
                realTime.stop();
                int known = arrivals.soFar().size();
                feed.send(10);
                copy(source, target).trigger(Trigger.AvailableNow()).start().awaitTermination();
                arrivals.await(feed.sent(), LIMIT);
                assertEquals(known + 10, arrivals.soFar().size(), "what ended batches have read is not repeated");
            }
        }
    }

    @Test
    void theEndOfASealedStreamIsReadInBatchesOfFullLength() throws Exception {
        String source = stream(1);
        String target = stream(1);
        try (Feed feed = new Feed(source); Arrivals arrivals = new Arrivals(target)) {
            feed.send(20);
            streams().sealStream(SCOPE, source);
            StreamingQuery query = copy(source, target).start();
            arrivals.await(20, LIMIT);
            awaitBatches(query, 2);
            assertTrue(query.lastProgress().batchDuration() >= BATCH_MS, query.lastProgress()::toString);
        }
    }

    @Test
    void exactlyOnceIsRefused() throws Exception {
        String source = stream(1);
        String target = stream(1);
        try (Feed feed = new Feed(source)) {
            feed.send(10);
        }
        String message = failure(copy(source, target).option("exactly_once", true));
        assertTrue(message.contains("exactly_once=false"), message);
        assertEquals(List.of(), numbers(target));
    }

    @Test
    void tooFewTaskSlotsAreAnErrorThatTellsHowManyAreNeeded() throws Exception {
        String message = failure(copy(stream(4), stream(1)));
        assertTrue(message.contains("4 task slots are needed, Spark has 2"), message);
    }

    @Test
    void theSlotsOfOtherRealTimeQueriesCount() throws Exception {
        String target = stream(1);
        StreamingQuery other = copy(stream(1), target).start();
        awaitBatches(other, 1);
        Dataset<Row> both = readStream(stream(1)).load().unionAll(readStream(stream(1)).load());
        DataStreamWriter<Row> writer = RealTimeDriver.copy(both, target, folder.resolve("both").toString(), BATCH_MS);
        String message = failure(writer);
        assertTrue(message.contains("3 task slots are needed, Spark has 2"), message);
        other.stop();
        awaitBatches(writer.start(), 1);
    }

    @ParameterizedTest
    @CsvSource({"max_events_per_trigger, 10", "max_bytes_per_trigger, 1000", "end_stream_cut, latest"})
    void whatBoundsABatchIsRefused(String option, String value) throws Exception {
        Dataset<Row> events = readStream(stream(1)).option(option, value).load();
        String message = failure(RealTimeDriver.copy(events, stream(1), folder.toString(), BATCH_MS));
        assertTrue(message.contains(option), message);
    }

    private DataStreamWriter<Row> copy(String source, String target) {
        return RealTimeDriver.copy(spark(), source, target, folder.resolve(source).toString(), BATCH_MS);
    }

    private static String failure(DataStreamWriter<Row> writer) {
        return assertThrows(StreamingQueryException.class, () -> writer.start().awaitTermination(LIMIT.toMillis()))
                .getMessage();
    }

    /** So many more, whole ones. */
    private static void awaitBatches(StreamingQuery query, int number) throws Exception {
        long until = query.lastProgress() == null ? number - 1 : query.lastProgress().batchId() + number;
        long limit = System.nanoTime() + LIMIT.toNanos();
        while (query.lastProgress() == null || query.lastProgress().batchId() < until) {
            assertTrue(query.isActive() && System.nanoTime() < limit, () -> query.lastProgress() + "");
            Thread.sleep(50);
        }
    }
}
