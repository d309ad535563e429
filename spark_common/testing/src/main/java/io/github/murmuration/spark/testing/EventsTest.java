// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.testing;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.function.Executable;

/** What the tests of all stores share: a local Spark, and streams of numbered events. */
public abstract class EventsTest {
    private static SparkSession spark;

    protected static synchronized SparkSession spark() {
        if (spark == null || spark.sparkContext().isStopped()) {
            spark = LocalSpark.create();
        }
        return spark;
    }

    /** Columns of rows that are to be written. */
    protected static StructType events(String keyColumn) {
        return new StructType()
                .add("stream", DataTypes.StringType)
                .add(keyColumn, DataTypes.StringType)
                .add("event", DataTypes.StringType);
    }

    /** Rows {@code (stream, key, text)} for the events {@code from} to {@code until - 1}, as two partitions. */
    protected static Dataset<Row> events(StructType columns, String stream, int from, int until) {
        List<Row> rows = IntStream.range(from, until)
                .mapToObj(number -> RowFactory.create(stream, "key-" + number % 16, "event-" + number)).toList();
        return spark().createDataFrame(rows, columns).repartition(2);
    }

    protected static List<String> texts(Dataset<Row> events) {
        return new ArrayList<>(events.selectExpr("string(event)").as(Encoders.STRING()).collectAsList());
    }

    /** Numbers of events, sorted. */
    protected static List<Integer> numbers(Dataset<Row> events) {
        return texts(events).stream()
                .map(text -> Integer.valueOf(text.substring("event-".length()))).sorted().toList();
    }

    public static List<Integer> range(int from, int until) {
        return IntStream.range(from, until).boxed().toList();
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
