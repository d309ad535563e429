// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lag that a source reports: what its stream holds beyond each batch. */
class LagTest extends SparkTest {
    /** "event-10" to "event-99", with the header. */
    private static final long EVENT_BYTES = 16;

    @TempDir
    Path checkpoint;

    @Test
    void itIsWhatIsLeftOfTheSegment() throws Exception {
        String source = stream(1);
        append(source, 10, 40);
        assertEquals(List.of(20 * EVENT_BYTES, 10 * EVENT_BYTES, 0L), lags(source));
    }

    /** The tail has only the new segments then. */
    @Test
    void whatIsLeftOfSealedSegmentsCounts() throws Exception {
        String source = stream(1);
        append(source, 10, 40);
        scale(source, List.of(0L), Map.of(0.0, 0.5, 0.5, 1.0));
        append(source, 40, 70);
        List<Long> lags = lags(source);
        assertEquals(List.of(50 * EVENT_BYTES, 40 * EVENT_BYTES, 30 * EVENT_BYTES), lags.subList(0, 3));
        assertEquals(0L, lags.get(lags.size() - 1));
    }

    private List<Long> lags(String source) throws Exception {
        Dataset<Row> events = readStream(source).option("max_events_per_trigger", 10).load();
        StreamingQuery query = copy(events, stream(1), checkpoint)
                .trigger(Trigger.AvailableNow()).start();
        query.awaitTermination();
        return Arrays.stream(query.recentProgress()).filter(progress -> progress.numInputRows() > 0)
                .map(progress -> Long.valueOf(progress.sources()[0].metrics().get("lagBytes"))).toList();
    }
}
