// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.OpenTransactions;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.StreamConfiguration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A checkpoint is restored from an older copy: its next epochs hold other rows than the ones that are written. */
class SetBackCheckpointTest extends SparkTest {
    @TempDir
    Path folder;

    /** Small epochs with keys are appended to the segments of their keys, or go in transactions. */
    @ParameterizedTest
    @CsvSource({"1, false", "3, false", "3, true"})
    void itIsAnErrorAndNothingIsDroppedOrLeftOpen(int segments, boolean scalesByItself) throws Exception {
        String source = stream(1);
        String target = stream(segments);
        if (scalesByItself) {
            streams().updateStream(SCOPE, target, StreamConfiguration.builder()
                    .scalingPolicy(ScalingPolicy.byEventRate(1_000_000, 2, segments)).build());
        }
        Path checkpoint = folder.resolve("checkpoint");
        Path copy = folder.resolve("copy");
        copyMore(source, target, checkpoint, 0, 10);
        copyMore(source, target, checkpoint, 10, 20);
        copyTree(checkpoint, copy);
        for (int from = 20; from < 60; from += 10) {
            copyMore(source, target, checkpoint, from, from + 10);
        }

        append(source, 60, 70);
        StreamingQuery query = copy(readStream(source).load(), target, copy).start();
        StreamingQueryException failure = assertThrows(StreamingQueryException.class, query::processAllAvailable);
        assertTrue(failure.getMessage().contains("set back"), failure::getMessage);
        OpenTransactions.assertNoneRemains(target, Duration.ofSeconds(5));
        assertEquals(range(0, 60), numbers(target));

        copyMore(source, target, checkpoint, 70, 80);
        assertEquals(range(0, 80), numbers(target));
    }

    /** Six epochs in twelve segments: no segment has had a second one. */
    @Test
    void itIsAnErrorThoughTheEpochsSegmentKnowsNoLaterOne() throws Exception {
        String source = stream(1);
        String target = stream(12);
        Path checkpoint = folder.resolve("checkpoint");
        Path copy = folder.resolve("copy");
        for (int epoch = 0; epoch < 6; epoch++) {
            append(source, 10 * epoch, 10 * epoch + 10);
            run(copyWithoutKeys(readStream(source).load().select("event"), target, checkpoint));
            if (epoch == 1) {
                copyTree(checkpoint, copy);
            }
        }
        StreamingQuery query = copyWithoutKeys(readStream(source).load().select("event"), target, copy).start();
        StreamingQueryException failure = assertThrows(StreamingQueryException.class, query::processAllAvailable);
        assertTrue(failure.getMessage().contains("set back"), failure::getMessage);
        assertEquals(range(0, 60), numbers(target));
    }

    private static void copyMore(String source, String target, Path checkpoint, int from, int until) throws Exception {
        append(source, from, until);
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        query.processAllAvailable();
        query.stop();
    }

    private static void copyTree(Path from, Path to) throws IOException {
        List<Path> all;
        try (var walked = Files.walk(from)) {
            all = walked.toList();
        }
        for (Path each : all) {
            Files.copy(each, to.resolve(from.relativize(each).toString()));
        }
    }
}
