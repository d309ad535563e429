// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.common.write.EventColumns;
import io.github.murmuration.pravega.spark.testing.LoggedSteps;
import io.github.murmuration.pravega.spark.testing.OpenTransactions;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.pravega.spark.write.PravegaWrite;
import io.github.murmuration.pravega.spark.write.append.FailedAppends;
import io.github.murmuration.pravega.spark.write.append.KeptEvents;
import io.github.murmuration.pravega.spark.write.transaction.TransactionalWrites;
import io.github.murmuration.pravega.spark.write.transaction.WrittenRows;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.StreamConfiguration;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A driver that has appended a keyed epoch to two of four segments is held up there; meanwhile another one writes the
 * same epoch. Spark runs a query once in a process: so here they are two writes of one query.
 */
class SecondDriverTest extends SparkTest {
    private static final String FIRST = DurablePravega.controllerUri();
    private static final String SECOND = FIRST.replace("127.0.0.1", "localhost");
    private static final int ROWS = 40;
    private static final Predicate<String> HELD = FailedAppends.isOneOf(2, 3);

    private final String query = UUID.randomUUID().toString();
    private final List<EpochRecord> recorded = new CopyOnWriteArrayList<>();
    private String target;

    @BeforeEach
    void beginQuery() {
        target = stream(4);
        commit(FIRST, 0);
        commit(FIRST, 1);
    }

    @Test
    void whoAppendsTooRepeatsNothing() throws Exception {
        commitHeldUp();
        assertEquals(List.of(), recorded);
        goOn();
    }

    @Test
    void whoGoesInTransactionsWritesTheRest() throws Exception {
        streams().updateStream(SCOPE, target, StreamConfiguration.builder()
                .scalingPolicy(ScalingPolicy.byEventRate(1_000_000, 2, 4)).build());
        commitHeldUp();
        long rest = recorded.get(0).transactions().get(0).rows();
        assertTrue(rest > 0 && rest < ROWS, recorded::toString);
        goOn();
    }

    private void commitHeldUp() {
        Set<String> held = ConcurrentHashMap.newKeySet();
        CountDownLatch done = new CountDownLatch(1);
        try (LoggedSteps log = new LoggedSteps((step, record) -> {
            if (step == EpochStep.RECORDED) {
                recorded.add(record);
            }
        }); FailedAppends holding = new FailedAppends((epoch, segment) -> {
            if (epoch == 2 && HELD.test(segment) && held.add(segment)) {
                letTheSecondGo(held.size() == 1, done);
            }
            return false;
        })) {
            commit(FIRST, 2);
        }
    }

    private void letTheSecondGo(boolean now, CountDownLatch done) {
        try {
            if (now) {
                Thread.sleep(500); // until the other two segments have their part
                commit(SECOND, 2);
                done.countDown();
            }
            assertTrue(done.await(30, TimeUnit.SECONDS));
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    private void goOn() throws Exception {
        OpenTransactions.assertNoneRemains(target, Duration.ofSeconds(5));
        assertEquals(range(0, 3 * ROWS), numbers(target));
        commit(SECOND, 3);
        assertEquals(range(0, 4 * ROWS), numbers(target));
    }

    private void commit(String controller, int epoch) {
        PravegaOptions options = new PravegaOptions(
                Map.of("controller", controller, "scope", SCOPE, "stream", target));
        KeptEvents.Builder kept = new KeptEvents.Builder(target);
        for (int number = epoch * ROWS; number < (epoch + 1) * ROWS; number++) {
            kept.add("key-" + number % 16, ("event-" + number).getBytes(StandardCharsets.UTF_8));
        }
        EventColumns columns = new EventColumns(EVENTS, PravegaWrite.ROUTING_KEY, Optional.of(target));
        new EpochWrite(new TransactionalWrites(options, columns, 30_000), query)
                .commit(epoch, new WriterCommitMessage[] {new WrittenRows(kept.build())});
    }
}
