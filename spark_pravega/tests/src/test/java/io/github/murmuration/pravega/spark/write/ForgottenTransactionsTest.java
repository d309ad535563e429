// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.LoggedSteps;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.write.epoch.EpochLog;
import io.github.murmuration.pravega.spark.write.epoch.EpochRecord;
import io.github.murmuration.pravega.spark.write.epoch.EpochStep;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.github.murmuration.pravega.spark.write.transaction.Transactions;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A driver dies between its commits and the mark of them, and comes back when Pravega has forgotten the commits. */
class ForgottenTransactionsTest extends SparkTest {
    @TempDir
    Path checkpoint;

    private String source;
    private String target;

    @ParameterizedTest
    @CsvSource({"write, 40", "skip, 20"})
    void theQueryFailsUntilItIsToldWhatToDo(String onUnknown, int rows) throws Exception {
        source = stream(1);
        target = "forgotten-" + onUnknown;
        append(source, 0, 20);
        AtomicBoolean first = new AtomicBoolean(true);
        StreamingQuery dying;
        try (LoggedSteps steps = new LoggedSteps((step, record) -> {
            if (step == EpochStep.RECORDED && first.getAndSet(false)) {
                commit(record.transactions());
                throw new IllegalStateException("the driver dies");
            }
        })) {
            dying = copy().start();
            assertRefused(dying::processAllAvailable, "the driver dies");
        }
        forgetCommits(dying.id());
        for (int attempt = 0; attempt < 2; attempt++) {
            assertRefused(copy().start()::processAllAvailable, "on_unknown_epoch=write");
        }
        assertEquals(range(0, 20), numbers(target));
        run(copy().option("on_unknown_epoch", onUnknown));
        assertEquals(rows, numbers(target).size());
        append(source, 20, 30);
        run(copy());
        assertEquals(range(0, 30), numbers(target).stream().distinct().toList());
        assertEquals(rows + 10, numbers(target).size());
    }

    /** To a stream that scales by itself, and so in transactions. */
    private DataStreamWriter<Row> copy() {
        return copy(readStream(source).load(), target, checkpoint)
                .option("default_num_segments", 2).option("default_segment_target_rate_bytes_per_sec", 1 << 20);
    }

    private static void commit(List<TransactionId> transactions) {
        try (Connections.Lease lease = Connections.lease(connection())) {
            new Transactions(lease.connection(), connection(), 10_000).commit(transactions);
        }
    }

    /**
     * Of a transaction that ended more than a day or two ago, Pravega tells what it tells of one that it never had: so
     * the record gets such ones.
     */
    private static void forgetCommits(UUID query) {
        try (Connections.Lease lease = Connections.lease(connection())) {
            EpochLog log = new EpochLog(lease.connection(), SCOPE, query);
            EpochRecord record = log.read().orElseThrow();
            List<TransactionId> unknown = record.transactions().stream().map(each -> new TransactionId(each.scope(),
                    each.stream(), new UUID(0, ThreadLocalRandom.current().nextLong(1L << 40, 1L << 50)),
                    each.partition(), each.rows())).toList();
            assertTrue(log.replace(new EpochRecord(record.epoch(), unknown)));
        }
    }
}
