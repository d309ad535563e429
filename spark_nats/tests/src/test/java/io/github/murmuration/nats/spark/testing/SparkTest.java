// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.testing;

import io.github.murmuration.spark.testing.EventsTest;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamReader;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.types.StructType;

/** What the tests share: a server, a local Spark, and streams of numbered events. */
public abstract class SparkTest extends EventsTest {
    public static final int LARGEST_BATCH = 10_000;
    protected static final StructType EVENTS = events("key");
    private static NatsServer server;
    private static TestNats nats;

    protected static synchronized NatsServer server() {
        if (server == null) {
            server = new NatsServer(0, LARGEST_BATCH);
        }
        return server;
    }

    protected static synchronized TestNats nats() {
        if (nats == null) {
            nats = new TestNats(server().url());
        }
        return nats;
    }

    /** Rows {@code (stream, key, text)} for the events {@code from} to {@code until - 1}, as two partitions. */
    protected static Dataset<Row> events(String stream, int from, int until) {
        return events(EVENTS, stream, from, until);
    }

    protected static void append(String stream, int from, int until) {
        writer(events(stream, from, until).drop("stream"), stream).save();
    }

    protected static DataFrameWriter<Row> writer(Dataset<Row> events, String stream) {
        return events.write().format("nats").mode("append")
                .option("servers", server().url()).option("namespace", TestNats.NAMESPACE).option("stream", stream);
    }

    protected static Dataset<Row> read(String stream) {
        return spark().read().format("nats").option("servers", server().url())
                .option("namespace", TestNats.NAMESPACE).option("stream", stream).load();
    }

    /** Numbers of the events that a stream holds, sorted. */
    protected static List<Integer> numbers(String stream) {
        return numbers(read(stream));
    }

    protected static DataStreamReader readStream(String stream) {
        return spark().readStream().format("nats").option("servers", server().url())
                .option("namespace", TestNats.NAMESPACE).option("stream", stream)
                .option("starting_offsets", "earliest");
    }

    /** Copies events, exactly once, into another stream. */
    protected static DataStreamWriter<Row> copy(Dataset<Row> events, String target, Path checkpoint) {
        return events.writeStream().format("nats")
                .option("servers", server().url()).option("namespace", TestNats.NAMESPACE).option("stream", target)
                .option("checkpointLocation", checkpoint.toString());
    }
}
