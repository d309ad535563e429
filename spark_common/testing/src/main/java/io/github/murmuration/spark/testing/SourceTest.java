// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamReader;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.types.StructType;

/** Streams of numbered events that are written and read by the data source of a store. */
public abstract class SourceTest extends EventsTest {
    /** More than an idle query waits before it looks for new events. */
    private static final long IDLE_MS = 200;

    protected static final StructType EVENTS = events("key");

    private final TestStore store;

    protected SourceTest(TestStore store) {
        this.store = store;
    }

    protected final TestStore store() {
        return store;
    }

    /** Rows {@code (stream, key, text)} for the events {@code from} to {@code until - 1}, as two partitions. */
    protected static Dataset<Row> events(String stream, int from, int until) {
        return events(EVENTS, stream, from, until);
    }

    protected final void append(String stream, int from, int until) {
        writer(events(stream, from, until).drop("stream"), stream).save();
    }

    protected final DataFrameWriter<Row> writer(Dataset<Row> events, String stream) {
        return events.write().format(store.format()).mode("append").options(store.where()).option("stream", stream);
    }

    protected final Dataset<Row> read(String stream) {
        return spark().read().format(store.format()).options(store.where()).option("stream", stream).load();
    }

    /** Numbers of the events that a stream holds, sorted. */
    protected final List<Integer> numbers(String stream) {
        return numbers(read(stream));
    }

    protected final DataStreamReader readStream(String stream) {
        return spark().readStream().format(store.format()).options(store.where()).option("stream", stream)
                .option("starting_offsets", "earliest");
    }

    /** Copies events into another stream. */
    protected final DataStreamWriter<Row> copy(Dataset<Row> events, String target, Path checkpoint) {
        return events.writeStream().format(store.format()).options(store.where()).option("stream", target)
                .option("checkpointLocation", checkpoint.toString());
    }

    /** A query with this checkpoint does its first batch once more, as if it had been killed before it noted it. */
    protected static void undoTheFirstBatch(Path checkpoint) throws Exception {
        Files.delete(checkpoint.resolve("commits/0"));
        Files.deleteIfExists(checkpoint.resolve("commits/.0.crc"));
    }

    /** Until it has written all that its source holds now. */
    protected static void settle(StreamingQuery query) throws Exception {
        Thread.sleep(IDLE_MS);
        query.processAllAvailable();
    }
}
