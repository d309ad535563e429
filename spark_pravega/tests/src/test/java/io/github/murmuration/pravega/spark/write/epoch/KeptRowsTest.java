// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.LoggedSteps;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.github.murmuration.pravega.spark.write.transaction.Transactions;
import io.pravega.client.control.impl.Controller;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.commons.lang3.exception.ExceptionUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Epochs of which some tasks keep their rows for the driver while others write them. */
class KeptRowsTest extends SparkTest {
    private static final int LARGE = 1_200_000;

    @TempDir
    Path checkpoint;

    /** Both parts have as many rows: what the driver wrote for tasks is not taken for what a task wrote. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPartThatExpiredIsReplacedByItsOwnRows(boolean keptExpires) throws Exception {
        String source = stream(1);
        String target = stream(1);
        append(source, 0, 20);
        AtomicBoolean first = new AtomicBoolean(true);
        try (LoggedSteps steps = new LoggedSteps((step, record) -> {
            if (step == EpochStep.RECORDED && first.getAndSet(false)) {
                assertEquals(2, record.transactions().size(), record::toString);
                assertEquals(record.transactions().get(0).rows(), record.transactions().get(1).rows());
                record.transactions().forEach(each ->
                        end(each, keptExpires != (each.partition() == TransactionId.KEPT)));
                throw new IllegalStateException("the driver dies");
            }
        })) {
            StreamingQuery failing = copyWithoutKeys(oneTaskKeeps(source), target, checkpoint).start();
            StreamingQueryException failure =
                    assertThrows(StreamingQueryException.class, failing::processAllAvailable);
            assertTrue(ExceptionUtils.getStackTrace(failure).contains("the driver dies"), failure::toString);
            StreamingQuery query = copyWithoutKeys(oneTaskKeeps(source), target, checkpoint).start();
            query.processAllAvailable();
            query.stop();
        }
        assertEquals(range(0, 20), numbers(read(target).selectExpr("trim(string(event)) AS event")));
    }

    /** All that tasks keep goes in one transaction if it does not fit into an append. */
    @Test
    void whatManyTasksKeepIsWrittenAtOnce() throws Exception {
        String source = stream(1);
        String target = stream(1);
        append(source, 0, 100);
        List<EpochRecord> recorded = new java.util.concurrent.CopyOnWriteArrayList<>();
        try (LoggedSteps steps = new LoggedSteps((step, record) -> {
            if (step == EpochStep.RECORDED) {
                recorded.add(record);
            }
        })) {
            StreamingQuery query = copyWithoutKeys(readStream(source).load().repartition(100)
                    .selectExpr("rpad(string(event), 300000, ' ') AS event"), target, checkpoint).start();
            query.processAllAvailable();
            query.stop();
        }
        assertEquals(1, recorded.size());
        assertTrue(recorded.get(0).transactions().stream()
                .anyMatch(each -> each.partition() == TransactionId.KEPT && each.rows() > 50), recorded::toString);
        assertEquals(range(0, 100), numbers(read(target).selectExpr("trim(string(event)) AS event")));
    }

    /** The first task's ten rows are too large to be kept. */
    private static Dataset<Row> oneTaskKeeps(String source) {
        return readStream(source).load().repartition(2).selectExpr(
                "if(spark_partition_id() = 0, rpad(string(event), " + LARGE + ", ' '), string(event)) AS event");
    }

    private static void end(TransactionId transaction, boolean commits) {
        try (Connections.Lease lease = Connections.lease(connection())) {
            Controller controller = lease.connection().controller();
            if (commits) {
                new Transactions(lease.connection(), connection(), 10_000).commit(List.of(transaction));
            } else {
                controller.abortTransaction(transaction.target(), transaction.id()).join();
            }
        }
    }
}
