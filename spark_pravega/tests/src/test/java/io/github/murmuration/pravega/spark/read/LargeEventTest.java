// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.pravega.client.stream.Serializer;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Events above the 8 MiB that Pravega writes in one piece, and around that size. */
class LargeEventTest extends SparkTest {
    private static final List<Integer> LENGTHS = List.of(
            5, Serializer.MAX_EVENT_SIZE - 8, 20_000_000, Serializer.MAX_EVENT_SIZE, Serializer.MAX_EVENT_SIZE + 1,
            2 * Serializer.MAX_EVENT_SIZE - 8, 7);

    @TempDir
    Path checkpoint;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aBatchOfLargeEventsIsWrittenAndRead(boolean exactlyOnce) {
        String target = stream(1);
        write(target, exactlyOnce);
        assertEquals(LENGTHS, lengths(read(target)));
    }

    @Test
    void aQueryCopiesThemWithinItsLimits() throws Exception {
        String source = stream(1);
        write(source, true);
        String target = stream(1);
        StreamingQuery query = copy(
                readStream(source).option("max_bytes_per_trigger", 1000).load(), target, checkpoint).start();
        query.processAllAvailable();
        query.stop();
        assertEquals(LENGTHS, lengths(read(target)));
    }

    private static void write(String target, boolean exactlyOnce) {
        Dataset<Row> events =
                spark().createDataset(LENGTHS, Encoders.INT()).coalesce(1).selectExpr("repeat('x', value) AS event");
        writer(events, target).option("exactly_once", exactlyOnce).save();
    }

    private static List<Integer> lengths(Dataset<Row> events) {
        return events.orderBy("offset").selectExpr("length(event)").as(Encoders.INT()).collectAsList();
    }
}
