// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.spark.testing.LocalSpark;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.Trigger;

/** A driver of its own process, which copies a stream in Spark's Real-Time Mode until it is killed. */
public final class RealTimeDriver {
    private static final String SLOTS = "8";

    private RealTimeDriver() {
    }

    /** Source, target, checkpoint and duration of a batch in ms. */
    public static void main(String[] arguments) throws Exception {
        SparkSession spark = LocalSpark.create("local[" + SLOTS + "]");
        copy(spark, arguments[0], arguments[1], arguments[2], Long.parseLong(arguments[3])).start().awaitTermination();
    }

    /** At least once, with the keys of a {@link Feed}. */
    public static DataStreamWriter<Row> copy(
            SparkSession spark, String source, String target, String checkpoint, long batchMs) {
        Dataset<Row> events = spark.readStream().format("pravega")
                .option("controller", DurablePravega.controllerUri()).option("scope", DurablePravega.SCOPE)
                .option("stream", source).option("start_stream_cut", "earliest").load();
        return copy(events, target, checkpoint, batchMs);
    }

    public static DataStreamWriter<Row> copy(Dataset<Row> events, String target, String checkpoint, long batchMs) {
        events.sparkSession().conf().set("spark.sql.streaming.realTimeMode.allowlistCheck", "false");
        events.sparkSession().conf().set("spark.sql.streaming.realTimeMode.minBatchDuration", "500ms");
        String key = "string(int(split(string(event), ' ')[0]) % " + Feed.KEYS + ") AS routing_key";
        return events.selectExpr("event", key).writeStream().format("pravega")
                .option("controller", DurablePravega.controllerUri()).option("scope", DurablePravega.SCOPE)
                .option("stream", target).option("exactly_once", false).option("asyncProgressTrackingEnabled", false)
                .option("checkpointLocation", checkpoint)
                .outputMode("update").trigger(Trigger.RealTime(batchMs, TimeUnit.MILLISECONDS));
    }
}
