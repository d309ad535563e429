// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.LoggedSteps;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.github.murmuration.pravega.spark.write.transaction.Transactions;
import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LocalSpark;
import io.pravega.client.control.impl.Controller;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.Trigger;
import org.apache.spark.sql.types.DataTypes;

/**
 * A driver of its own process: copies {@code source} into two streams, as a sink or by a function of foreachBatch, and
 * kills itself with SIGKILL at a given point of its second epoch, so that the first one shows that the work of the
 * previous process was finished.
 */
final class KilledDriver {
    /** Where it dies. */
    enum Point {
        IN_A_TASK, WRITTEN, RECORDED, PARTLY_COMMITTED, PARTLY_EXPIRED, EXPIRED, COMMITTED, APPENDED, NEVER,
        /** It does not die, but is held there with an expired transaction until someone lets it go on. */
        HELD,
        /** It is held there, and nothing of its epoch is in Pravega. */
        HELD_IN_A_TASK, HELD_WRITTEN
    }

    /** What it writes to. */
    enum Target {
        SINK, FOREACH_BATCH
    }

    private static final int EVENTS_PER_EPOCH = 20;

    private KilledDriver() {
    }

    public static void main(String[] arguments) throws Exception {
        String source = arguments[0];
        Point point = Point.valueOf(arguments[4]);
        AtomicLong first = new AtomicLong(-1);
        SparkSession spark = LocalSpark.create();
        new LoggedSteps((step, record) -> {
            first.compareAndSet(-1, record.epoch());
            if (record.epoch() > first.get()) {
                dieIfThisIs(point, step, record);
            }
        });
        run(spark, source, arguments[1], arguments[2], arguments[3], point, Target.valueOf(arguments[5]));
    }

    /** The query: even events go to one stream, odd ones to the other. */
    public static void run(SparkSession spark, String source, String even, String odd, String checkpoint, Point point,
            Target target) throws Exception {
        int lastOfSecondEpoch = 2 * EVENTS_PER_EPOCH - 1;
        spark.udf().register("die", (Integer number) -> {
            boolean isLast = number % lastOfSecondEpoch == 0 && number > 0;
            if (isLast && point == Point.IN_A_TASK) {
                die();
            } else if (isLast && point == Point.HELD_IN_A_TASK) {
                hold();
            }
            return number;
        }, DataTypes.IntegerType);
        DataStreamWriter<Row> query = spark.readStream().format("pravega").options(connection())
                .option("stream", source).option("start_stream_cut", "earliest")
                .option("max_events_per_trigger", EVENTS_PER_EPOCH).load()
                .selectExpr("event", "die(int(substring(string(event), 7))) % 2 as parity")
                .selectExpr("event", "array('" + even + "', '" + odd + "')[parity] as stream")
                .writeStream().option("checkpointLocation", checkpoint).trigger(Trigger.AvailableNow());
        VoidFunction2<Dataset<Row>, Long> function = (batch, number) -> batch.write().format("pravega").mode("append")
                .options(connection()).option("transaction_timeout_ms", 10_000)
                .option("txn_app_id", "copy").option("txn_version", number).save();
        (target == Target.FOREACH_BATCH ? query.foreachBatch(function) : query.format("pravega")
                .options(connection()).option("transaction_timeout_ms", 10_000)).start().awaitTermination();
    }

    private static Map<String, String> connection() {
        return Map.of("controller", DurablePravega.controllerUri(), "scope", DurablePravega.SCOPE);
    }

    private static void dieIfThisIs(Point point, EpochStep step, EpochRecord record) {
        if (step.name().equals(point.name())) {
            die();
        }
        if (step == EpochStep.WRITTEN && point == Point.HELD_WRITTEN && record.transactions().isEmpty()) {
            hold();
        }
        if (step == EpochStep.RECORDED) {
            List<TransactionId> transactions = record.transactions();
            switch (point) {
                case PARTLY_COMMITTED -> end(transactions.subList(0, 1), List.of());
                case PARTLY_EXPIRED -> end(transactions.subList(0, 1), transactions.subList(1, transactions.size()));
                case EXPIRED -> end(List.of(), transactions);
                case HELD -> {
                    end(List.of(), transactions.subList(1, transactions.size()));
                    hold();
                    return;
                }
                default -> {
                    return;
                }
            }
            die();
        }
    }

    /** Leaves the transactions as a crash in the midst of the commits would, or their expiry after a crash. */
    private static void end(List<TransactionId> committed, List<TransactionId> expired) {
        PravegaOptions options = new PravegaOptions(connection());
        try (Connections.Lease lease = Connections.lease(options)) {
            Controller controller = lease.connection().controller();
            new Transactions(lease.connection(), options, 10_000).commit(committed);
            expired.forEach(each -> controller.abortTransaction(each.target(), each.id()).join());
        }
    }

    private static void die() {
        DriverProcess.killThisOne();
    }

    private static void hold() {
        DriverProcess.signal(ProcessHandle.current(), "STOP");
    }
}
