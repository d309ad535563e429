// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.upgrade;

import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LocalSpark;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.Trigger;

/**
 * A query of which a part runs under an earlier data source: copies events, 20 in an epoch. Nothing here is compiled
 * against one of both data sources.
 */
final class UpgradedQuery {
    static final int EVENTS_PER_EPOCH = 20;

    private UpgradedQuery() {
    }

    /** Under the earlier one. Arguments: source, target, whether with keys, checkpoint; then where it kills itself. */
    public static void main(String[] arguments) throws Exception {
        String last = arguments[4];
        observe((step, record) -> {
            String reached = step + " " + record;
            System.out.println(reached);
            if (reached.startsWith(last)) {
                DriverProcess.killThisOne();
            }
        });
        try (SparkSession spark = LocalSpark.create()) {
            run(spark, arguments[0], arguments[1], Boolean.parseBoolean(arguments[2]), Path.of(arguments[3]));
        }
    }

    /** How such a step of an epoch begins in print, and in the last argument. */
    static String step(String name, int epoch) {
        return "%s EpochRecord[epoch=%d,".formatted(name, epoch);
    }

    /** Ends when it has copied what the source holds. With keys: each second epoch has some, and so transactions. */
    static void run(SparkSession spark, String source, String target, boolean keys, Path checkpoint) throws Exception {
        String epoch = "int(substring(string(event), 7)) div " + EVENTS_PER_EPOCH;
        String key = keys ? "if(" + epoch + " % 2 = 1, right(string(event), 1), null)" : "string(null)";
        spark.readStream().format("pravega").options(connection()).option("stream", source)
                .option("start_stream_cut", "earliest").option("max_events_per_trigger", EVENTS_PER_EPOCH).load()
                .selectExpr("event", key + " AS routing_key")
                .writeStream().format("pravega").options(connection()).option("stream", target)
                .option("checkpointLocation", checkpoint.toString())
                .trigger(Trigger.AvailableNow()).start().awaitTermination();
    }

    /** The earlier one calls a hook at every step of an epoch. */
    private static void observe(BiConsumer<Object, Object> observer) throws ReflectiveOperationException {
        Method observe = Class.forName("io.github.murmuration.pravega.spark.EpochStep")
                .getDeclaredMethod("observe", BiConsumer.class);
        observe.setAccessible(true);
        observe.invoke(null, observer);
    }

    private static Map<String, String> connection() {
        return Map.of("controller", DurablePravega.controllerUri(), "scope", DurablePravega.SCOPE);
    }
}
