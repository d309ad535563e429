// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.pravega.spark.write.append.FailedAppends;
import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LocalSpark;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.Trigger;

/**
 * A driver of its own process: copies {@code source} with keys into four segments and kills itself with SIGKILL when
 * two of them have their part of its second epoch.
 */
final class KilledAppends {
    static final int EVENTS_PER_EPOCH = 20;
    private static final long UNTIL_OTHERS_ARE_APPENDED_MS = 3000;

    private KilledAppends() {
    }

    public static void main(String[] arguments) throws Exception {
        Predicate<String> held = FailedAppends.isOneOf(2, 3);
        SparkSession spark = LocalSpark.create();
        new FailedAppends((epoch, segment) -> {
            if (epoch == 1 && held.test(segment)) {
                sleep();
                DriverProcess.killThisOne();
            }
            return false;
        });
        run(spark, arguments[0], arguments[1], arguments[2]);
    }

    static void run(SparkSession spark, String source, String target, String checkpoint) throws Exception {
        Map<String, String> connection =
                Map.of("controller", DurablePravega.controllerUri(), "scope", DurablePravega.SCOPE);
        spark.readStream().format("pravega").options(connection).option("stream", source)
                .option("start_stream_cut", "earliest").option("max_events_per_trigger", EVENTS_PER_EPOCH).load()
                .selectExpr("event", "string(event) AS routing_key")
                .writeStream().format("pravega").options(connection).option("stream", target)
                .option("checkpointLocation", checkpoint)
                .trigger(Trigger.AvailableNow()).start().awaitTermination();
    }

    private static void sleep() {
        try {
            Thread.sleep(UNTIL_OTHERS_ARE_APPENDED_MS);
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }
}
