// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("core")
class StreamingTest extends SparkTest {
    @TempDir
    Path checkpoint;

    @Test
    void everythingIsCopiedAndNewEventsFollow() throws Exception {
        String source = stream(2);
        String target = stream(2);
        append(source, 0, 100);
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        query.processAllAvailable();
        assertEquals(range(0, 100), numbers(target));

        append(source, 100, 150);
        query.processAllAvailable();
        assertEquals(range(0, 150), numbers(target));
        assertEquals("0", query.lastProgress().sources()[0].metrics().get("lagBytes"));
        query.stop();
    }

    @Test
    void aQueryGoesOnFromItsCheckpoint() throws Exception {
        String source = stream(2);
        String target = stream(1);
        append(source, 0, 40);
        StreamingQuery first = copy(readStream(source).load(), target, checkpoint).start();
        first.processAllAvailable();
        first.stop();

        append(source, 40, 70);
        StreamingQuery second = copy(readStream(source).load(), target, checkpoint).start();
        second.processAllAvailable();
        second.stop();
        assertEquals(range(0, 70), numbers(target));
    }

    @Test
    void aTriggerReadsNoMoreEventsThanAllowed() throws Exception {
        String source = stream(3);
        String target = stream(1);
        append(source, 0, 250);
        StreamingQuery query = copy(
                readStream(source).option("max_events_per_trigger", 40).load(), target, checkpoint).start();
        query.processAllAvailable();

        assertEquals(range(0, 250), numbers(target));
        List<Long> batches = rowsPerBatch(query);
        assertTrue(batches.stream().allMatch(rows -> rows <= 40), batches::toString);
        assertTrue(batches.stream().filter(rows -> rows > 0).count() <= 9, batches::toString);
        query.stop();
    }

    @Test
    void aTriggerReadsNoMoreBytesThanAllowedButAtLeastOneEvent() throws Exception {
        String source = stream(2);
        String target = stream(1);
        append(source, 0, 20);
        StreamingQuery query = copy(
                readStream(source).option("max_bytes_per_trigger", 1).load(), target, checkpoint).start();
        query.processAllAvailable();

        assertEquals(range(0, 20), numbers(target));
        assertTrue(rowsPerBatch(query).stream().allMatch(rows -> rows <= 1), rowsPerBatch(query)::toString);
        query.stop();
    }

    /** 100 events of 17 bytes: 85 bytes are five of them. */
    @Test
    void theOfficialConnectorsLimitIsKept() throws Exception {
        String source = stream(1);
        String target = stream(1);
        append(source, 100, 200);
        StreamingQuery query = copy(
                readStream(source).option("approx_bytes_per_trigger", 85).load(), target, checkpoint).start();
        query.processAllAvailable();

        assertEquals(range(100, 200), numbers(target));
        assertEquals(20, rowsPerBatch(query).stream().filter(rows -> rows == 5).count());
        query.stop();
    }

    @Test
    void availableNowEndsWithWhatThereIsInLimitedBatches() throws Exception {
        String source = stream(2);
        String target = stream(2);
        append(source, 0, 100);
        StreamingQuery query = copy(
                readStream(source).option("max_events_per_trigger", 30).load(), target, checkpoint)
                .trigger(Trigger.AvailableNow()).start();
        query.awaitTermination();

        assertEquals(range(0, 100), numbers(target));
        assertTrue(rowsPerBatch(query).stream().allMatch(rows -> rows <= 30), rowsPerBatch(query)::toString);
    }

    @Test
    void oneEpochWritesTwoStreams() throws Exception {
        String source = stream(2);
        String small = stream(1);
        String large = stream(2);
        append(source, 0, 90);
        StreamingQuery query = readStream(source).load()
                .selectExpr("event", "if(int(substring(string(event), 7)) < 30, '" + small + "', '" + large
                        + "') as stream")
                .writeStream().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).option("checkpointLocation", checkpoint.toString()).start();
        query.processAllAvailable();
        query.stop();

        assertEquals(range(0, 30), numbers(small));
        assertEquals(range(30, 90), numbers(large));
    }

    @Test
    void aStartAtTheTailDoesNotMove() throws Exception {
        String source = stream(1);
        String target = stream(1);
        append(source, 0, 10);
        StreamingQuery query = copy(
                readStream(source).option("start_stream_cut", "latest").load(), target, checkpoint).start();
        query.processAllAvailable();
        query.stop();
        append(source, 10, 20);

        StreamingQuery restarted = copy(
                readStream(source).option("start_stream_cut", "latest").load(), target, checkpoint).start();
        restarted.processAllAvailable();
        restarted.stop();
        assertEquals(range(10, 20), numbers(target));
    }

    private static List<Long> rowsPerBatch(StreamingQuery query) {
        return Arrays.stream(query.recentProgress()).map(StreamingQueryProgress::numInputRows).toList();
    }
}
