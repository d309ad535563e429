// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.pravega.client.stream.RetentionPolicy;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.StreamConfiguration;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scopes and streams that do not exist when they are read or written. */
class CreatedStreamTest extends SparkTest {
    @TempDir
    Path checkpoint;

    @Test
    void byDefaultOneSegmentKeepsEverything() {
        StreamConfiguration created = created("created-by-default", Map.of());
        assertEquals(ScalingPolicy.fixed(1), created.getScalingPolicy());
        assertNull(created.getRetentionPolicy());
    }

    @Test
    void theNumberOfSegmentsIsGiven() {
        assertEquals(ScalingPolicy.fixed(3),
                created("created-with-three", Map.of("default_num_segments", "3")).getScalingPolicy());
    }

    @Test
    void aRateOfBytesIsGiven() {
        assertEquals(ScalingPolicy.byDataRate(10, 2, 1), created("created-by-bytes",
                Map.of("default_segment_target_rate_bytes_per_sec", "10240")).getScalingPolicy());
    }

    @Test
    void aRateOfEventsAndAFactorAreGiven() {
        assertEquals(ScalingPolicy.byEventRate(500, 3, 2), created("created-by-events", Map.of(
                "default_segment_target_rate_events_per_sec", "500", "default_scale_factor", "3",
                "default_num_segments", "2")).getScalingPolicy());
    }

    @Test
    void retentionIsGiven() {
        assertEquals(RetentionPolicy.byTime(Duration.ofHours(1)), created("created-for-an-hour",
                Map.of("default_retention_duration_milliseconds", "3600000")).getRetentionPolicy());
        assertEquals(RetentionPolicy.bySizeBytes(5000000), created("created-for-bytes",
                Map.of("default_retention_size_bytes", "5000000")).getRetentionPolicy());
    }

    @Test
    void twoRatesAreRefused() {
        assertRefused(() -> created("created-by-both", Map.of("default_segment_target_rate_events_per_sec", "1",
                "default_segment_target_rate_bytes_per_sec", "1024")), "exclude each other");
        assertFalse(streams().checkStreamExists(SCOPE, "created-by-both"));
    }

    @Test
    void whatExistsStaysAsItIs() {
        String stream = stream(2);
        writer(events(stream, 0, 5).drop("stream"), stream).option("default_num_segments", "4")
                .option("default_retention_size_bytes", "1000").save();
        StreamConfiguration configuration = configuration(SCOPE, stream);
        assertEquals(ScalingPolicy.fixed(2), configuration.getScalingPolicy());
        assertNull(configuration.getRetentionPolicy());
    }

    @Test
    void aReadCreatesAStreamToo() {
        assertEquals(0, read("created-by-a-read").count());
        assertTrue(streams().checkStreamExists(SCOPE, "created-by-a-read"));
    }

    @Test
    void aQueryCreatesScopeAndStreamsOfItsRows() throws Exception {
        String source = stream(1);
        append(source, 0, 5);
        StreamingQuery query = readStream(source).load().selectExpr("event", "'created-by-rows' AS stream")
                .writeStream().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", "created-scope").option("default_num_segments", "2")
                .option("checkpointLocation", checkpoint.toString()).start();
        query.processAllAvailable();
        query.stop();
        assertEquals(ScalingPolicy.fixed(2), configuration("created-scope", "created-by-rows").getScalingPolicy());
    }

    @Test
    void whereNoStreamMayBeCreatedItsAbsenceIsAnError() throws Exception {
        Map<String, String> none = Map.of("allow_create_stream", "false");
        assertRefused(() -> created("not-created", none), "not-created does not exist");
        assertRefused(() -> spark().read().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).option("stream", "not-created").options(none).load().count(),
                "not-created does not exist");
        assertRefused(() -> {
            StreamingQuery query = readStream("not-created").options(none).load().writeStream().format("noop")
                    .option("checkpointLocation", checkpoint.toString()).start();
            query.processAllAvailable();
        }, "not-created does not exist");
        assertFalse(streams().checkStreamExists(SCOPE, "not-created"));
    }

    @Test
    void whereNoScopeMayBeCreatedItsAbsenceIsAnError() {
        assertRefused(() -> events("never", 0, 5).write().format("pravega").mode("append")
                .option("controller", DurablePravega.controllerUri()).option("scope", "not-created")
                .option("allow_create_scope", "false").save(), "scope not-created does not exist");
        assertFalse(streams().checkScopeExists("not-created"));
    }

    private static StreamConfiguration created(String stream, Map<String, String> options) {
        writer(events(stream, 0, 5).drop("stream"), stream).options(options).save();
        assertEquals(range(0, 5), numbers(stream));
        return configuration(SCOPE, stream);
    }

    private static StreamConfiguration configuration(String scope, String stream) {
        return streams().fetchStreamInfo(scope, stream).join().getStreamConfiguration();
    }
}
