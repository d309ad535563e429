// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.spark.testing.EventsTest;
import io.pravega.client.ClientConfig;
import io.pravega.client.admin.StreamManager;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamConfiguration;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamReader;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the tests share: a local Spark, a scope in the real Pravega, and streams of numbered events. */
@ExtendWith(DurablePravega.class)
public abstract class SparkTest extends EventsTest {
    public static final String SCOPE = DurablePravega.SCOPE;
    protected static final StructType EVENTS = events("routing_key");
    /** Of two segments, which could change at any time: so small epochs are not appended. */
    protected static final ScalingPolicy NEEDS_TRANSACTIONS = ScalingPolicy.byEventRate(1_000_000, 2, 2);
    private static final AtomicInteger STREAMS = new AtomicInteger();
    private static StreamManager streams;

    public static synchronized StreamManager streams() {
        if (streams == null) {
            streams = StreamManager.create(ClientConfig.builder()
                    .controllerURI(URI.create(DurablePravega.controllerUri())).build());
        }
        return streams;
    }

    /** A new stream with a name of its own. */
    protected static String stream(int segments) {
        return stream(ScalingPolicy.fixed(segments));
    }

    protected static String stream(ScalingPolicy scaling) {
        String name = "stream-" + STREAMS.incrementAndGet();
        streams().createStream(SCOPE, name, StreamConfiguration.builder().scalingPolicy(scaling).build());
        return name;
    }

    /** Rows {@code (stream, key, text)} for the events {@code from} to {@code until - 1}, as two partitions. */
    protected static Dataset<Row> events(String stream, int from, int until) {
        return events(EVENTS, stream, from, until);
    }

    protected static void append(String stream, int from, int until) {
        writer(events(stream, from, until).drop("stream"), stream).save();
    }

    protected static DataFrameWriter<Row> writer(Dataset<Row> events, String stream) {
        return events.write().format("pravega").mode("append")
                .option("controller", DurablePravega.controllerUri()).option("scope", SCOPE).option("stream", stream);
    }

    protected static Dataset<Row> read(String stream) {
        return spark().read().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).option("stream", stream).load();
    }

    /** Numbers of the events that a stream holds, sorted. */
    protected static List<Integer> numbers(String stream) {
        return numbers(read(stream));
    }

    protected static List<Integer> both(List<Integer> first, List<Integer> second) {
        return java.util.stream.Stream.concat(first.stream(), second.stream()).toList();
    }

    protected static DataStreamReader readStream(String stream) {
        return spark().readStream().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).option("stream", stream).option("start_stream_cut", "earliest");
    }

    /** Copies events, exactly once, into another stream, each with a key of its own. */
    protected static DataStreamWriter<Row> copy(Dataset<Row> events, String target, Path checkpoint) {
        Dataset<Row> keyed = events.selectExpr("event", "left(string(event), 16) AS routing_key");
        return copyWithoutKeys(keyed, target, checkpoint);
    }

    protected static DataStreamWriter<Row> copyWithoutKeys(Dataset<Row> events, String target, Path checkpoint) {
        return events.writeStream().format("pravega")
                .option("controller", DurablePravega.controllerUri()).option("scope", SCOPE).option("stream", target)
                .option("checkpointLocation", checkpoint.toString());
    }

    /** Seals the segments with these ids and opens one for each range of keys. */
    protected static void scale(String stream, List<Long> sealed, Map<Double, Double> ranges) throws Exception {
        ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
        try (Connections.Lease lease = Connections.lease(connection())) {
            Controller controller = lease.connection().controller();
            assertTrue(controller.scaleStream(Stream.of(SCOPE, stream), sealed, ranges, executor).getFuture().get());
        } finally {
            executor.shutdownNow();
        }
    }

    public static PravegaOptions connection() {
        return new PravegaOptions(Map.of("controller", DurablePravega.controllerUri(), "scope", SCOPE));
    }
}
