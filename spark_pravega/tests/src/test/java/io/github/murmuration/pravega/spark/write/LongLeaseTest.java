// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.github.murmuration.pravega.spark.write.transaction.Transactions;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.stream.Stream;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Leases above what the controller grants, for which Pravega's client asks again and again, for minutes. */
@Timeout(30)
class LongLeaseTest extends SparkTest {
    private static final int TOO_LONG_MS = 600_001;
    private static final String ANSWER =
            "transaction_timeout_ms is 600001, and the controller grants no more than 600000";

    @TempDir
    Path checkpoint;

    @Test
    void aBatchIsRefusedBeforeItsTasks() {
        String stream = stream(1);
        AtomicInteger rows = new AtomicInteger();
        spark().udf().register("counted", (String event) -> {
            rows.incrementAndGet();
            return event;
        }, DataTypes.StringType);
        assertRefused(() -> writer(events(stream, 0, 5).selectExpr("counted(event) AS event"), stream)
                .option("transaction_timeout_ms", TOO_LONG_MS).save(), ANSWER);
        assertEquals(0, rows.get());
    }

    @Test
    void aQueryIsRefused() {
        String source = stream(1);
        append(source, 0, 5);
        assertRefused(() -> copy(readStream(source).load(), stream(2), checkpoint)
                .option("transaction_timeout_ms", TOO_LONG_MS).start().processAllAvailable(), ANSWER);
    }

    /** The driver does not know to which streams rows will go. */
    @Test
    void aTaskThatNamesItsStreamIsRefused() {
        assertRefused(() -> events(stream(1), 0, 5).write().format("pravega").mode("append")
                .option("controller", DurablePravega.controllerUri()).option("scope", SCOPE)
                .option("transaction_timeout_ms", TOO_LONG_MS).save(), ANSWER);
    }

    @Test
    void theLongestLeaseIsGranted() {
        String stream = stream(1);
        writer(events(stream, 0, 5).drop("stream"), stream).option("transaction_timeout_ms", TOO_LONG_MS - 1).save();
        assertEquals(range(0, 5), numbers(stream));
    }

    @Test
    void whatHasNotExpiredIsNotCalledExpired() {
        Stream stream = Stream.of(SCOPE, stream(1));
        try (Connections.Lease lease = Connections.lease(connection())) {
            Controller controller = lease.connection().controller();
            UUID id = controller.createTransaction(stream, 10_000).join().getTxnId();
            List<TransactionId> open = List.of(new TransactionId(SCOPE, stream.getStreamName(), id, 0, 0));
            String refused = assertThrows(PravegaException.class,
                    () -> new Transactions(lease.connection(), connection(), TOO_LONG_MS).renew(open)).getMessage();
            assertTrue(refused.contains("LEASE_TOO_LARGE"), refused);
            assertFalse(refused.contains("expired"), refused);

            controller.abortTransaction(stream, id).join();
            String ended = assertThrows(PravegaException.class,
                    () -> new Transactions(lease.connection(), connection(), 10_000).renew(open)).getMessage();
            assertTrue(ended.contains("is not open any more; if it expired"), ended);
        }
    }
}
