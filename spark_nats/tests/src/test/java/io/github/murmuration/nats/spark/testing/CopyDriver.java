// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.testing;

import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LocalSpark;
import io.github.murmuration.spark.testing.LogListener;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.logging.log4j.Level;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;

/**
 * A driver of its own that copies a stream. Arguments: server, source, target, checkpoint, events per epoch, events per
 * atomic batch, the step at which it is killed or 0, and whether it ends with what there is.
 *
 * <p>A step is each line that the sink logs: before a part of an epoch is sent to a partition, and when it is written.
 */
public final class CopyDriver {
    private CopyDriver() {
    }

    public static void main(String[] arguments) throws Exception {
        int killedAt = Integer.parseInt(arguments[6]);
        SparkSession spark = LocalSpark.create();
        AtomicInteger steps = new AtomicInteger();
        Class<?> logging = Class.forName("io.github.murmuration.nats.spark.write.EpochSubject");
        try (LogListener steady = new LogListener(logging, Level.DEBUG, Level.DEBUG, line -> {
            if (line.getFormat().contains("rows") && steps.incrementAndGet() == killedAt) {
                DriverProcess.killThisOne();
            }
        })) {
            DataStreamWriter<?> writer = spark.readStream().format("nats").option("servers", arguments[0])
                    .option("namespace", TestNats.NAMESPACE).option("stream", arguments[1])
                    .option("starting_offsets", "earliest").option("max_events_per_trigger", arguments[4]).load()
                    .selectExpr("event", "CASE WHEN offset % 3 = 0 THEN key END AS key")
                    .writeStream().format("nats").option("servers", arguments[0])
                    .option("namespace", TestNats.NAMESPACE).option("stream", arguments[2])
                    .option("batch_events", arguments[5]).option("checkpointLocation", arguments[3]);
            if (Boolean.parseBoolean(arguments[7])) {
                writer = writer.trigger(Trigger.AvailableNow());
            }
            StreamingQuery query = writer.start();
            query.awaitTermination();
        }
        spark.stop();
    }
}
