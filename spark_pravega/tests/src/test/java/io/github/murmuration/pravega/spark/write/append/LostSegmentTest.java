// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.StreamConfiguration;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The segment to which a query appended small epochs is deleted: by retention, or with its stream. */
class LostSegmentTest extends SparkTest {
    @TempDir
    Path checkpoint;

    private String source;
    private String target;

    @BeforeEach
    void makeStreams() {
        source = stream(1);
        target = stream(1);
    }

    /** Its keys are those of two segments by then. */
    @Test
    void aQueryThatHasGoneOnInOthersDoesNotCareForItAnyMore() throws Exception {
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        copyMore(query, 0, 10);
        scale(target, List.of(0L), Map.of(0.0, 0.5, 0.5, 1.0));
        copyMore(query, 10, 20);
        truncate(target);
        copyMore(query, 20, 30);
        query.stop();
        goOn(30, 40);
        assertEquals(range(20, 40), numbers(target));
    }

    @Test
    void aQueryThatRunsGoesOn() throws Exception {
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        copyMore(query, 0, 10);
        scale(target, List.of(0L), Map.of(0.0, 0.5, 0.5, 1.0));
        truncate(target);
        copyMore(query, 10, 20);
        query.stop();
        assertEquals(range(10, 20), numbers(target));
    }

    @Test
    void aQueryThatRunsGoesOnInAStreamThatIsCreatedAnew() throws Exception {
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        copyMore(query, 0, 10);
        streams().sealStream(SCOPE, target);
        streams().deleteStream(SCOPE, target);
        streams().createStream(SCOPE, target,
                StreamConfiguration.builder().scalingPolicy(ScalingPolicy.fixed(1)).build());
        copyMore(query, 10, 20);
        copyMore(query, 20, 30);
        query.stop();
        assertEquals(range(10, 30), numbers(target));
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "skip"})
    void aQueryThatWasDownMeanwhileFailsAndNamesTheWayOut(String wayOut) throws Exception {
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        copyMore(query, 0, 10);
        query.stop();
        scale(target, List.of(0L), Map.of(0.0, 0.5, 0.5, 1.0));
        truncate(target);
        for (int attempt = 0; attempt < 2; attempt++) {
            append(source, 10 + 5 * attempt, 15 + 5 * attempt);
            StreamingQuery failing = copyFromAnotherJvm().start();
            StreamingQueryException failure = assertThrows(StreamingQueryException.class, failing::processAllAvailable);
            assertTrue(failure.getMessage().contains("on_unknown_epoch=write"), failure::getMessage);
        }
        StreamingQuery told = copyFromAnotherJvm().option("on_unknown_epoch", wayOut).start();
        told.processAllAvailable();
        told.stop();
        goOn(20, 30);
        assertEquals(range(wayOut.equals("write") ? 10 : 15, 30), numbers(target));
    }

    /** By another name of the server it has another connection, which knows nothing of the query. */
    private DataStreamWriter<Row> copyFromAnotherJvm() {
        return copy(readStream(source).load(), target, checkpoint)
                .option("controller", DurablePravega.controllerUri().replace("127.0.0.1", "localhost"));
    }

    private void goOn(int from, int until) throws Exception {
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        copyMore(query, from, until);
        query.stop();
    }

    private void copyMore(StreamingQuery query, int from, int until) throws Exception {
        append(source, from, until);
        Thread.sleep(100); // a source that is idle does not look again within 30 ms, and calls that all there is
        query.processAllAvailable();
    }

    private static void truncate(String stream) {
        streams().truncateStream(SCOPE, stream, streams().fetchStreamInfo(SCOPE, stream).join().getTailStreamCut());
    }
}
