// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.upgrade;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.pravega.client.stream.StreamCut;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A query that ran with the official connector before. */
@Tag("core")
class MigrationTest extends SparkTest {
    @TempDir
    Path checkpoint;

    /** Of an official checkpoint: an offset is the cut's text in quotes, in its own order, and nothing else is kept. */
    @Test
    void itsCheckpointGoesOn() throws Exception {
        String source = stream(3);
        String target = stream(2);
        append(source, 0, 40);
        StreamCut cut = streams().fetchStreamInfo(SCOPE, source).join().getTailStreamCut();
        copyAll(source, target);
        Path offsets = checkpoint.resolve("offsets").resolve("0");
        List<String> lines = Files.readAllLines(offsets);
        Files.delete(checkpoint.resolve("offsets").resolve(".0.crc"));
        Files.write(offsets, List.of(lines.get(0), lines.get(1), '"' + cut.asText() + '"'));
        try (var files = Files.walk(checkpoint.resolve("sources"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.delete(file);
            }
        }

        append(source, 40, 60);
        copyAll(source, target);
        assertEquals(range(0, 60), numbers(target));
    }

    private void copyAll(String source, String target) throws Exception {
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        query.processAllAvailable();
        query.stop();
    }
}
