// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.upgrade;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.pravega.client.stream.StreamCut;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A query that ran with the official connector, in Spark 3.5, before. */
class MigrationTest extends SparkTest {
    private static final String QUERY = "{\"id\":\"5d9ea3f5-8c1b-4c5f-9f30-3c6a0a7d2f11\"}";
    private static final String SETTINGS = """
            {"batchWatermarkMs":0,"batchTimestampMs":1700000000000,"conf":{\
            "spark.sql.streaming.stateStore.providerClass":\
            "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",\
            "spark.sql.streaming.multipleWatermarkPolicy":"min",\
            "spark.sql.streaming.stateStore.rocksdb.formatVersion":"5",\
            "spark.sql.shuffle.partitions":"2"}}""";

    @TempDir
    Path checkpoint;

    /**
     * All that such a checkpoint holds: an offset is the cut's text in quotes, in its own order, and nothing is kept of
     * where the query began. The batch that was begun is repeated, since the scope has no record of it.
     */
    @Test
    void itsCheckpointGoesOn() throws Exception {
        String source = stream(3);
        String target = stream(2);
        write("metadata", QUERY);
        append(source, 0, 40);
        write("offsets/6", "v1", SETTINGS, '"' + tail(source).asText() + '"');
        write("commits/6", "v1", "{\"nextBatchWatermarkMs\":0}");
        append(source, 40, 50);
        write("offsets/7", "v1", SETTINGS, '"' + tail(source).asText() + '"');
        append(source, 50, 60);

        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        query.processAllAvailable();
        query.stop();
        assertEquals(range(40, 60), numbers(target));
    }

    private void write(String file, String... lines) throws Exception {
        Path path = checkpoint.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, String.join("\n", List.of(lines)));
    }

    private static StreamCut tail(String stream) {
        return streams().fetchStreamInfo(SCOPE, stream).join().getTailStreamCut();
    }
}
