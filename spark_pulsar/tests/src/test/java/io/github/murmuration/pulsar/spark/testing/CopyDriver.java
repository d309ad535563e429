// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.testing;

import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LocalSpark;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.api.java.function.FilterFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.Trigger;

/**
 * A driver of its own that copies what a stream holds. Arguments: service, administration, namespace, source, target,
 * checkpoint, events per epoch, and the row, counted from 1, at which it is killed, or 0.
 */
public final class CopyDriver {
    /** More than it takes until what a task has written before is published. */
    private static final long PUBLISHED_MS = 500;
    private static final AtomicInteger ROWS = new AtomicInteger();

    private CopyDriver() {
    }

    public static void main(String[] arguments) throws Exception {
        int killedAt = Integer.parseInt(arguments[7]);
        SparkSession spark = LocalSpark.create();
        spark.readStream().format("pulsar").option("service_url", arguments[0]).option("admin_url", arguments[1])
                .option("namespace", arguments[2]).option("stream", arguments[3])
                .option("starting_offsets", "earliest").option("max_events_per_trigger", arguments[6]).load()
                .filter((FilterFunction<Row>) row -> isCopied(killedAt))
                .writeStream().format("pulsar").option("service_url", arguments[0]).option("admin_url", arguments[1])
                .option("namespace", arguments[2]).option("stream", arguments[4])
                .option("checkpointLocation", arguments[5]).trigger(Trigger.AvailableNow()).start().awaitTermination();
        spark.stop();
    }

    private static boolean isCopied(int killedAt) throws InterruptedException {
        if (ROWS.incrementAndGet() == killedAt) {
            Thread.sleep(PUBLISHED_MS);
            DriverProcess.killThisOne();
        }
        return true;
    }
}
