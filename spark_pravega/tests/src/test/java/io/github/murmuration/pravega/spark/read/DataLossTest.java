// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.CapturedLog;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.StreamConfiguration;
import io.pravega.client.stream.StreamCut;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.streaming.DataStreamReader;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Streams that are truncated beyond what a query has read. */
@Tag("core")
class DataLossTest extends SparkTest {
    @TempDir
    Path checkpoint;

    @Test
    void whatIsLostIsAnErrorThatNamesTheWayOut() throws Exception {
        String source = stream(1);
        String target = stream(1);
        leaveUnreadAndTruncate(source, target);

        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        StreamingQueryException failure = assertThrows(StreamingQueryException.class, query::processAllAvailable);
        assertTrue(failure.getMessage().contains("fail_on_data_loss=false"), failure::getMessage);
        assertEquals(range(0, 50), numbers(target));
    }

    @Test
    void aQueryGoesOnWithWhatIsLeftIfAskedTo() throws Exception {
        String source = stream(1);
        String target = stream(1);
        leaveUnreadAndTruncate(source, target);

        goOn(lossy(source), target);
        assertEquals(both(range(0, 50), range(100, 120)), numbers(target));
    }

    @Test
    void limitsHoldBehindWhatIsLost() throws Exception {
        String source = stream(1);
        String target = stream(1);
        leaveUnreadAndTruncate(source, target);

        goOn(lossy(source).option("max_events_per_trigger", 7), target);
        assertEquals(both(range(0, 50), range(100, 120)), numbers(target));
    }

    @Test
    void aSegmentThatIsGoneIsFollowedByItsSuccessors() throws Exception {
        String source = stream(1);
        String target = stream(1);
        append(source, 0, 50);
        goOn(readStream(source), target);
        append(source, 50, 100);
        scale(source, List.of(0L), Map.of(0.0, 0.5, 0.5, 1.0));
        append(source, 100, 120);
        truncateAt(source, tail(source));
        append(source, 120, 140);

        goOn(lossy(source), target);
        assertEquals(both(range(0, 50), range(120, 140)), numbers(target));
    }

    @Test
    void aStreamThatWasCreatedAnewIsAnError() throws Exception {
        String source = stream(2);
        String target = stream(1);
        append(source, 0, 50);
        goOn(readStream(source), target);
        createAnew(source);
        append(source, 50, 60);

        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        StreamingQueryException failure = assertThrows(StreamingQueryException.class, query::processAllAvailable);
        assertTrue(failure.getMessage().contains("created anew"), failure::getMessage);
        assertTrue(failure.getMessage().contains("fail_on_data_loss=false"), failure::getMessage);
        assertEquals(range(0, 50), numbers(target));
    }

    @Test
    void aStreamThatWasCreatedAnewAndScaledIsReadFromItsHeadIfAskedTo() throws Exception {
        String source = stream(1);
        String target = stream(1);
        append(source, 0, 50);
        goOn(lossy(source), target);
        createAnew(source);
        append(source, 50, 60);
        try (CapturedLog log = new CapturedLog()) {
            goOn(lossy(source), target);
            assertTrue(log.text().contains("created anew"));
        }
        assertEquals(range(0, 60), numbers(target));

        createAnew(source);
        append(source, 60, 70);
        scale(source, segmentIds(source), Map.of(0.0, 0.5, 0.5, 1.0));
        append(source, 70, 80);
        goOn(lossy(source), target);
        assertEquals(range(0, 80), numbers(target));
    }

    private static void createAnew(String stream) {
        streams().sealStream(SCOPE, stream);
        assertTrue(streams().deleteStream(SCOPE, stream));
        streams().createStream(SCOPE, stream, StreamConfiguration.builder()
                .scalingPolicy(ScalingPolicy.fixed(1)).build());
    }

    private static List<Long> segmentIds(String stream) {
        return tail(stream).asImpl().getPositions().keySet().stream().map(Segment::getSegmentId).toList();
    }

    /** 0 to 49 are read and copied, 50 to 99 lost, 100 to 119 still there. */
    private void leaveUnreadAndTruncate(String source, String target) throws Exception {
        append(source, 0, 50);
        goOn(readStream(source), target);
        append(source, 50, 100);
        StreamCut cut = tail(source);
        append(source, 100, 120);
        truncateAt(source, cut);
    }

    private void goOn(DataStreamReader source, String target) throws Exception {
        StreamingQuery query = copy(source.load(), target, checkpoint).start();
        query.processAllAvailable();
        query.stop();
    }

    private static DataStreamReader lossy(String source) {
        return readStream(source).option("fail_on_data_loss", "false");
    }

    private static StreamCut tail(String stream) {
        return streams().fetchStreamInfo(SCOPE, stream).join().getTailStreamCut();
    }

    private static void truncateAt(String stream, StreamCut cut) {
        assertTrue(streams().truncateStream(SCOPE, stream, cut));
    }
}
