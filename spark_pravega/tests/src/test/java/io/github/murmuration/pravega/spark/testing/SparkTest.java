// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.pravega.client.ClientConfig;
import io.pravega.client.admin.StreamManager;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamConfiguration;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.DataStreamReader;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;

/** What the tests share: a local Spark, a scope in the real Pravega, and streams of numbered events. */
@ExtendWith(DurablePravega.class)
public abstract class SparkTest {
    public static final String SCOPE = DurablePravega.SCOPE;
    protected static final StructType EVENTS = new StructType()
            .add("stream", DataTypes.StringType)
            .add("routing_key", DataTypes.StringType)
            .add("event", DataTypes.StringType);
    /** Of two segments, which could change at any time: so small epochs are not appended. */
    protected static final ScalingPolicy NEEDS_TRANSACTIONS = ScalingPolicy.byEventRate(1_000_000, 2, 2);
    private static final AtomicInteger STREAMS = new AtomicInteger();
    private static SparkSession spark;
    private static StreamManager streams;

    protected static synchronized SparkSession spark() {
        if (spark == null || spark.sparkContext().isStopped()) {
            spark = LocalSpark.create();
        }
        return spark;
    }

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
        List<Row> rows = IntStream.range(from, until)
                .mapToObj(number -> RowFactory.create(stream, "key-" + number % 16, "event-" + number)).toList();
        return spark().createDataFrame(rows, EVENTS).repartition(2);
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

    protected static List<String> texts(Dataset<Row> events) {
        return new ArrayList<>(events.selectExpr("string(event)").as(Encoders.STRING()).collectAsList());
    }

    /** Numbers of the events that a stream holds, sorted. */
    protected static List<Integer> numbers(String stream) {
        return numbers(read(stream));
    }

    protected static List<Integer> numbers(Dataset<Row> events) {
        return texts(events).stream()
                .map(text -> Integer.valueOf(text.substring("event-".length()))).sorted().toList();
    }

    public static List<Integer> range(int from, int until) {
        return IntStream.range(from, until).boxed().toList();
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

    /** Until it has written all that its source holds. */
    protected static void run(DataStreamWriter<Row> query) throws Exception {
        StreamingQuery started = query.start();
        started.processAllAvailable();
        started.stop();
    }

    /** That {@code attempt} fails, and in what words. */
    protected static void assertRefused(Executable attempt, String words) {
        Throwable refused = assertThrows(Exception.class, attempt);
        StringBuilder messages = new StringBuilder();
        for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
            messages.append(cause).append('\n');
        }
        assertTrue(messages.toString().contains(words), messages::toString);
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
