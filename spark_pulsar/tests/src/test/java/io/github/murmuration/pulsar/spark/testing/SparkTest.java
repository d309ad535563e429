// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.testing;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
import org.junit.jupiter.api.function.Executable;

/** What the tests share: a broker that runs, a local Spark, and streams of numbered events. */
public abstract class SparkTest {
    protected static final StructType EVENTS = new StructType()
            .add("stream", DataTypes.StringType)
            .add("key", DataTypes.StringType)
            .add("event", DataTypes.StringType);
    protected static final Map<String, String> WHERE = Map.of(
            "service_url", service(), "admin_url", admin(), "namespace", TestPulsar.NAMESPACE);
    private static SparkSession spark;
    private static TestPulsar pulsar;

    protected static synchronized SparkSession spark() {
        if (spark == null || spark.sparkContext().isStopped()) {
            spark = LocalSpark.create();
        }
        return spark;
    }

    protected static String service() {
        return System.getProperty("pulsar.test.service", "");
    }

    protected static String admin() {
        return System.getProperty("pulsar.test.admin", "");
    }

    protected static synchronized TestPulsar pulsar() {
        if (pulsar == null) {
            pulsar = new TestPulsar(service(), admin());
        }
        return pulsar;
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
        return events.write().format("pulsar").mode("append")
                .options(WHERE).option("stream", stream);
    }

    protected static Dataset<Row> read(String stream) {
        return spark().read().format("pulsar").options(WHERE).option("stream", stream).load();
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

    protected static DataStreamReader readStream(String stream) {
        return spark().readStream().format("pulsar").options(WHERE).option("stream", stream)
                .option("starting_offsets", "earliest");
    }

    /** Copies events into another stream. */
    protected static DataStreamWriter<Row> copy(Dataset<Row> events, String target, Path checkpoint) {
        return events.writeStream().format("pulsar")
                .options(WHERE).option("stream", target)
                .option("checkpointLocation", checkpoint.toString());
    }

    /** Until it has written all that its source holds. */
    protected static void run(DataStreamWriter<Row> query) throws Exception {
        StreamingQuery started = query.start();
        try {
            started.processAllAvailable();
        } finally {
            started.stop();
        }
    }

    /** That {@code attempt} fails, and in what words. */
    protected static String assertRefused(Executable attempt, String words) {
        Throwable refused = assertThrows(Exception.class, attempt);
        StringBuilder messages = new StringBuilder();
        for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
            messages.append(cause).append('\n');
        }
        assertTrue(messages.toString().contains(words), messages::toString);
        return messages.toString();
    }
}
