// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A query that copies events in epochs, those with the same remainder of their number under one routing key. */
abstract class KeyedCopy extends SparkTest {
    private static final int KEYS = 16;
    private static final int EVENTS_PER_EPOCH = 20;

    @TempDir
    Path checkpoint;

    protected String source;
    protected String target;

    @BeforeEach
    void makeSource() {
        source = stream(1);
    }

    protected void copyMore(int from, int until) throws Exception {
        append(source, from, until);
        run(copy(20, true));
    }

    protected DataStreamWriter<Row> copy(int bytes, boolean keyed) {
        return copy(rows(readStream(source).load(), bytes, keyed));
    }

    protected DataStreamWriter<Row> copy(Dataset<Row> rows) {
        return copyWithoutKeys(rows, target, checkpoint);
    }

    /** By another name of the server it has another connection, which knows nothing of the query. */
    protected static DataStreamWriter<Row> fromAnotherJvm(DataStreamWriter<Row> query) {
        return query.option("controller", DurablePravega.controllerUri().replace("127.0.0.1", "localhost"));
    }

    protected static Dataset<Row> rows(Dataset<Row> events, int bytes, boolean keyed) {
        Dataset<Row> rows = events.selectExpr("rpad(string(event), " + bytes + ", ' ') AS event",
                "concat('key-', int(substring(string(event), 7)) % " + KEYS + ") AS routing_key");
        return keyed ? rows : rows.drop("routing_key");
    }

    protected List<Integer> numbersOfTarget() {
        return numbers(read(target).selectExpr("trim(string(event)) AS event"));
    }

    protected static Map<Integer, List<Integer>> ofEachKey(String stream) {
        return ofEachKey(stream, epoch -> true);
    }

    /** Numbers of the events by their keys, in their order, of epochs of {@value #EVENTS_PER_EPOCH} events. */
    protected static Map<Integer, List<Integer>> ofEachKey(String stream, Predicate<Integer> epochs) {
        return read(stream).orderBy("segment_id", "offset").selectExpr("int(substring(string(event), 7))")
                .collectAsList().stream().map((Row row) -> row.getInt(0))
                .filter(number -> epochs.test(number / EVENTS_PER_EPOCH))
                .collect(Collectors.groupingBy(number -> number % KEYS));
    }
}
