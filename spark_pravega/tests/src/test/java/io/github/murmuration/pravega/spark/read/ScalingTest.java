// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.pravega.client.stream.Stream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Streams whose segments are split and merged, and streams that are sealed. */
class ScalingTest extends SparkTest {
    private static final int KEYS = 16;

    @TempDir
    Path checkpoint;

    @Test
    void aScaledStreamIsReadWholeByABatch() throws Exception {
        assertEquals(range(0, 300), numbers(scaledStream()));
    }

    @Test
    void limitsAndTheOrderOfKeysHoldAcrossASplitAndAMerge() throws Exception {
        String source = scaledStream();
        String target = stream(1);
        StreamingQuery query = readStream(source).option("max_events_per_trigger", 35).load()
                .selectExpr("event", "concat('key-', int(substring(string(event), 7)) % " + KEYS + ") as routing_key")
                .writeStream().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).option("stream", target).option("checkpointLocation", checkpoint.toString())
                .trigger(Trigger.AvailableNow()).start();
        query.awaitTermination();

        assertTrue(Arrays.stream(query.recentProgress()).allMatch(progress -> progress.numInputRows() <= 35));
        List<Integer> arrived = read(target).orderBy("offset").selectExpr("int(substring(string(event), 7))")
                .collectAsList().stream().map(row -> row.getInt(0)).toList();
        assertEquals(range(0, 300), arrived.stream().sorted().toList());
        Map<Integer, List<Integer>> byKey =
                arrived.stream().collect(Collectors.groupingBy(number -> number % KEYS));
        byKey.values().forEach(numbers -> assertEquals(numbers.stream().sorted().toList(), numbers));
    }

    @Test
    void aQueryFollowsAStreamThatScalesWhileItRuns() throws Exception {
        String source = stream(1);
        String target = stream(1);
        appendInOrder(source, 0, 50);
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        query.processAllAvailable();
        scale(source, List.of(0L), Map.of(0.0, 0.5, 0.5, 1.0));
        appendInOrder(source, 50, 100);
        query.processAllAvailable();
        query.stop();

        assertEquals(range(0, 100), numbers(target));
    }

    @Test
    void aSealedStreamIsReadToItsEnd() throws Exception {
        String source = scaledStream();
        String target = stream(1);
        streams().sealStream(SCOPE, source);
        assertEquals(range(0, 300), numbers(source));

        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        query.processAllAvailable();
        query.stop();
        assertEquals(range(0, 300), numbers(target));
    }

    /** Texts of three digits: every event takes 17 bytes. */
    @Test
    void theLagIsWhatIsUnreadInSegmentsOfAllGenerations() throws Exception {
        String source = stream(1);
        appendInOrder(source, 100, 200);
        scale(source, List.of(0L), Map.of(0.0, 0.5, 0.5, 1.0));
        appendInOrder(source, 200, 300);
        StreamingQuery query = copy(
                readStream(source).option("max_events_per_trigger", 35).load(), stream(1), checkpoint)
                .trigger(Trigger.AvailableNow()).start();
        query.awaitTermination();

        long unread = 200;
        for (StreamingQueryProgress progress : query.recentProgress()) {
            unread -= progress.numInputRows();
            assertEquals(Long.toString(unread * 17), progress.sources()[0].metrics().get("lagBytes"));
        }
        assertEquals(0, unread);
    }

    @Test
    void anEndBeforeTheStartIsRefused() throws Exception {
        String source = stream(1);
        String early = streams().fetchStreamInfo(SCOPE, source).join().getTailStreamCut().asText();
        appendInOrder(source, 0, 10);
        scale(source, List.of(0L), Map.of(0.0, 0.5, 0.5, 1.0));
        String late = streams().fetchStreamInfo(SCOPE, source).join().getTailStreamCut().asText();

        Exception refused = assertThrows(Exception.class, () -> between(source, late, early).count());
        assertTrue(refused.getMessage().contains("end_stream_cut lies before start_stream_cut"), refused::getMessage);
        StreamingQuery query = copy(readStream(source).option("start_stream_cut", "latest")
                .option("end_stream_cut", early).load(), stream(1), checkpoint).start();
        refused = assertThrows(StreamingQueryException.class, query::processAllAvailable);
        assertTrue(refused.getMessage().contains("end_stream_cut lies before start_stream_cut"), refused::getMessage);
        assertEquals(range(0, 10), numbers(between(source, early, late)));
        assertEquals(0, between(source, late, late).count());
    }

    private static Dataset<Row> between(String stream, String start, String end) {
        return spark().read().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).option("stream", stream)
                .option("start_stream_cut", start).option("end_stream_cut", end).load();
    }

    /** 100 events in one segment, 100 after its split into two, and 100 after their merge. */
    private static String scaledStream() throws Exception {
        String name = stream(1);
        appendInOrder(name, 0, 100);
        scale(name, List.of(0L), Map.of(0.0, 0.5, 0.5, 1.0));
        appendInOrder(name, 100, 200);
        List<Long> halves = new ArrayList<>();
        try (Connections.Lease lease = Connections.lease(connection())) {
            lease.connection().metadata().tail(Stream.of(SCOPE, name)).asImpl().getPositions().keySet()
                    .forEach(segment -> halves.add(segment.getSegmentId()));
        }
        scale(name, halves, Map.of(0.0, 1.0));
        appendInOrder(name, 200, 300);
        return name;
    }

    private static void appendInOrder(String stream, int from, int until) {
        events(stream, from, until).coalesce(1).sortWithinPartitions(functions.expr("int(substring(event, 7))"))
                .write().format("pravega").mode("append").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).save();
    }
}
