// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.CapturedLog;
import io.github.murmuration.pravega.spark.testing.LoggedSteps;
import io.github.murmuration.pravega.spark.testing.OpenTransactions;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.github.murmuration.pravega.spark.write.transaction.Transactions;
import io.pravega.client.control.impl.Controller;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches that are written again, under the version that they had. */
class VersionedBatchTest extends SparkTest {
    @TempDir
    Path checkpoint;

    /** The function fails when its second batch is written: the query, started again, gives it the same batch. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("core")
    void foreachBatchWritesARepeatedBatchOnceIfItHasAVersion(boolean versioned) throws Exception {
        String source = stream(1);
        List<String> targets = List.of(stream(1), stream(2));
        append(source, 0, 30);
        assertRefused(foreachBatch(source, targets, versioned, 1)::processAllAvailable, "the batch is written");
        StreamingQuery query = foreachBatch(source, targets, versioned, -1);
        query.processAllAvailable();
        query.stop();
        for (String target : targets) {
            assertEquals(range(0, 30), numbers(target).stream().distinct().toList());
            assertEquals(versioned, numbers(target).size() == 30);
        }
    }

    @Test
    void aStreamSkipsWhatItHasGotAndTellsSo() throws Exception {
        String target = stream(2);
        write(target, 0, 5, "a", 7);
        try (CapturedLog log = new CapturedLog()) {
            write(target, 5, 10, "a", 7);
            write(target, 10, 15, "a", 3);
            assertEquals(3, log.text().split("is skipped: " + target + " has got version 7", -1).length, log::text);
        }
        write(target, 15, 20, "b", 3);
        write(target, 20, 25, "a", 8);
        assertEquals(both(range(0, 5), range(15, 25)), numbers(target));
        OpenTransactions.assertNoneRemains(target, Duration.ofSeconds(5));
        String other = stream(1);
        write(other, 0, 5, "a", 7);
        assertEquals(range(0, 5), numbers(other));
    }

    @Test
    void eachStreamThatRowsNameHasVersionsOfItsOwn() {
        String one = stream(1);
        String two = stream(2);
        String three = stream(1);
        versioned(toStreamsOfRows(events(one, 0, 5).union(events(two, 5, 10))), "a", 0).save();
        versioned(toStreamsOfRows(events(two, 5, 10).union(events(three, 10, 15))), "a", 0).save();
        assertEquals(range(0, 5), numbers(one));
        assertEquals(range(5, 10), numbers(two));
        assertEquals(range(10, 15), numbers(three));
    }

    /** Half of it was committed when its driver died; the rest has expired, and comes as another part. */
    @ParameterizedTest
    @CsvSource({"fail, 10", "write, 30", "skip, 10"})
    void theOptionSaysWhatToDoWithABatchThatIsUnknown(String onUnknown, int rows) {
        String target = stream(1);
        AtomicBoolean first = new AtomicBoolean(true);
        try (LoggedSteps steps = new LoggedSteps((step, record) -> {
            if (step == EpochStep.RECORDED && first.getAndSet(false)) {
                commitOne(record.transactions());
                throw new IllegalStateException("the driver dies");
            }
        })) {
            assertRefused(() -> write(target, 0, 20, "a", 0), "the driver dies");
        }
        DataFrameWriter<Row> again = versioned(writer(events(target, 0, 20).coalesce(1), target), "a", 0)
                .option("on_unknown_epoch", onUnknown);
        if (onUnknown.equals("fail")) {
            assertRefused(again::save, "on_unknown_epoch=write");
        } else {
            again.save();
        }
        assertEquals(rows, numbers(target).size());
    }

    private StreamingQuery foreachBatch(String source, List<String> targets, boolean versioned, long failsAt)
            throws Exception {
        VoidFunction2<Dataset<Row>, Long> function = (batch, number) -> {
            for (String target : targets) {
                DataFrameWriter<Row> writer = writer(batch, target);
                (versioned ? versioned(writer, "copy", number) : writer).save();
            }
            if (number == failsAt) {
                throw new IllegalStateException("the batch is written");
            }
        };
        return readStream(source).option("max_events_per_trigger", 10).load().select("event")
                .writeStream().option("checkpointLocation", checkpoint.toString()).foreachBatch(function).start();
    }

    private static void write(String target, int from, int until, String application, long version) {
        versioned(writer(events(target, from, until), target), application, version).save();
    }

    private static DataFrameWriter<Row> versioned(DataFrameWriter<Row> writer, String application, long version) {
        return writer.option("txn_app_id", application).option("txn_version", version);
    }

    private static DataFrameWriter<Row> toStreamsOfRows(Dataset<Row> events) {
        return events.write().format("pravega").mode("append")
                .option("controller", DurablePravega.controllerUri()).option("scope", SCOPE);
    }

    private static void commitOne(List<TransactionId> transactions) {
        assertEquals(2, transactions.size());
        try (Connections.Lease lease = Connections.lease(connection())) {
            Controller controller = lease.connection().controller();
            new Transactions(lease.connection(), connection(), 10_000).commit(transactions.subList(0, 1));
            controller.abortTransaction(transactions.get(1).target(), transactions.get(1).id()).join();
        }
    }
}
