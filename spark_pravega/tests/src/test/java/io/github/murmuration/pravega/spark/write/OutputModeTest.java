// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pravega.spark.testing.CapturedLog;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Aggregations as events: a stream is appended to, whatever the output mode. */
class OutputModeTest extends SparkTest {
    @TempDir
    Path checkpoint;

    @Test
    void inUpdateModeEveryNewStateIsAnEvent() throws Exception {
        assertEquals(List.of("even 2", "odd 2", "even 3"), countTwice("update"));
    }

    @Test
    void inCompleteModeEveryEpochAppendsTheWholeResultAndThatIsToldOnce() throws Exception {
        try (CapturedLog log = new CapturedLog()) {
            assertEquals(List.of("even 2", "odd 2", "even 3", "odd 2"), countTwice("complete"));
            assertEquals(1, log.text().lines().filter(line -> line.contains("Output mode complete")).count());
        }
    }

    /** The events of two epochs, in their order, each epoch's sorted: of the numbers 0 to 3, then of 4. */
    private List<String> countTwice(String outputMode) throws Exception {
        String source = stream(1);
        String target = stream(1);
        append(source, 0, 4);
        StreamingQuery query = readStream(source).load()
                .selectExpr("if(int(substring(string(event), 7)) % 2 = 0, 'even', 'odd') AS parity")
                .groupBy("parity").count().selectExpr("concat(parity, ' ', count) AS event", "parity AS routing_key")
                .writeStream().format("pravega").outputMode(outputMode)
                .option("controller", DurablePravega.controllerUri()).option("scope", SCOPE).option("stream", target)
                .option("checkpointLocation", checkpoint.toString()).start();
        query.processAllAvailable();
        List<String> first = texts(read(target));
        append(source, 4, 5);
        query.processAllAvailable();
        query.stop();
        List<String> all = texts(read(target).orderBy("offset"));
        assertEquals(first.stream().sorted().toList(), all.subList(0, first.size()).stream().sorted().toList());
        return Stream.concat(first.stream().sorted(), all.stream().skip(first.size()).sorted()).toList();
    }
}
