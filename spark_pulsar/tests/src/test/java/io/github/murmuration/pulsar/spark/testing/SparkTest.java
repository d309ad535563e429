// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.testing;

import io.github.murmuration.spark.testing.EventsTest;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamReader;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.types.StructType;

/** What the tests share: a server, a local Spark, and streams of numbered events. */
public abstract class SparkTest extends EventsTest {
    protected static final StructType EVENTS = events("key");
    private static PulsarServer server;
    private static TestPulsar pulsar;

    protected static synchronized PulsarServer server() {
        if (server == null) {
            server = new PulsarServer();
        }
        return server;
    }

    protected static synchronized TestPulsar pulsar() {
        if (pulsar == null) {
            pulsar = new TestPulsar(server().service(), server().admin());
        }
        return pulsar;
    }

    /** The options that tell where the streams are. */
    protected static Map<String, String> where() {
        return where(server());
    }

    protected static Map<String, String> where(PulsarServer of) {
        return Map.of("service_url", of.service(), "admin_url", of.admin(), "namespace", TestPulsar.NAMESPACE);
    }

    /** Rows {@code (stream, key, text)} for the events {@code from} to {@code until - 1}, as two partitions. */
    protected static Dataset<Row> events(String stream, int from, int until) {
        return events(EVENTS, stream, from, until);
    }

    protected static void append(String stream, int from, int until) {
        writer(events(stream, from, until).drop("stream"), stream).save();
    }

    protected static DataFrameWriter<Row> writer(Dataset<Row> events, String stream) {
        return events.write().format("pulsar").mode("append")
                .options(where()).option("stream", stream);
    }

    protected static Dataset<Row> read(String stream) {
        return spark().read().format("pulsar").options(where()).option("stream", stream).load();
    }

    /** Numbers of the events that a stream holds, sorted. */
    protected static List<Integer> numbers(String stream) {
        return numbers(read(stream));
    }

    protected static DataStreamReader readStream(String stream) {
        return spark().readStream().format("pulsar").options(where()).option("stream", stream)
                .option("starting_offsets", "earliest");
    }

    /** Copies events into another stream. */
    protected static DataStreamWriter<Row> copy(Dataset<Row> events, String target, Path checkpoint) {
        return events.writeStream().format("pulsar")
                .options(where()).option("stream", target)
                .option("checkpointLocation", checkpoint.toString());
    }
}
