// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.StreamConfiguration;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A source stream is deleted and created anew under its name, with events that no query has read. */
class ReplacedStreamTest extends SparkTest {
    @TempDir
    Path checkpoint;

    private String source;
    private String target;

    @BeforeEach
    void makeStreams() throws Exception {
        source = stream(2);
        target = stream(1);
        append(source, 0, 20);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itIsDataLossForAQueryThatGoesOn(boolean scales) throws Exception {
        readOnce(true);
        replace(scales);
        StreamingQueryException failure = assertThrows(StreamingQueryException.class, () -> readOnce(true));
        assertTrue(failure.getMessage().contains("fail_on_data_loss=false"), failure::getMessage);
        assertEquals(range(0, 20), numbers(target));

        readOnce(false);
        assertEquals(range(0, 40), numbers(target));
    }

    @Test
    void itIsDataLossForAQueryThatRuns() throws Exception {
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        query.processAllAvailable();
        replace(false);
        StreamingQueryException failure = assertThrows(StreamingQueryException.class, query::processAllAvailable);
        String message = failure.getMessage();
        assertTrue(List.of("does not exist", "truncated beyond", "created anew").stream()
                .anyMatch(message::contains), message);
    }

    private void readOnce(boolean failOnDataLoss) throws Exception {
        StreamingQuery query = copy(
                readStream(source).option("fail_on_data_loss", failOnDataLoss).load(), target, checkpoint).start();
        try {
            query.processAllAvailable();
        } finally {
            query.stop();
        }
    }

    private void replace(boolean scales) throws Exception {
        streams().sealStream(SCOPE, source);
        streams().deleteStream(SCOPE, source);
        streams().createStream(SCOPE, source,
                StreamConfiguration.builder().scalingPolicy(ScalingPolicy.fixed(1)).build());
        append(source, 20, 30);
        if (scales) {
            long segment = streams().fetchStreamInfo(SCOPE, source).join().getTailStreamCut().asImpl().getPositions()
                    .keySet().iterator().next().getSegmentId();
            scale(source, List.of(segment), Map.of(0.0, 0.5, 0.5, 1.0));
        }
        append(source, 30, 40);
    }
}
