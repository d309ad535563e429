// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.LiveObjects;
import io.github.murmuration.pravega.spark.testing.LoggedSteps;
import io.github.murmuration.pravega.spark.testing.OpenTransactions;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.write.epoch.EpochStep;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a thousand small epochs leave: their rows, once, and nothing else. A thread, a connection, a transaction or a
 * lease that each epoch left behind would stop a query only after days; a connection that is closed but remembered,
 * with its buffer, after minutes.
 */
class ManyEpochsTest extends SparkTest {
    private static final int EPOCHS = 1000;
    /** After so many, pools and caches have their size. */
    private static final int FIRST_EPOCHS = 50;
    /** Far less than one for every ten epochs: pools breathe. */
    private static final int THREADS_THAT_COME_AND_GO = 15;
    private static final int FILES_THAT_COME_AND_GO = 30;
    private static final String CONNECTION = "io.pravega.client.connection.impl.TcpClientConnection";

    @TempDir
    Path checkpoint;

    private boolean exactlyOnce = true;
    private final Map<EpochStep, Integer> steps = new EnumMap<>(EpochStep.class);
    private LoggedSteps log;

    @BeforeEach
    void observe() {
        log = new LoggedSteps((step, record) -> steps.merge(step, 1, Integer::sum));
    }

    @AfterEach
    void observeNoMore() {
        log.close();
    }

    @Test
    void epochsThatAreAppendedLeaveNothing() throws Exception {
        copyOneByOne(stream(1));
        assertEquals(Map.of(EpochStep.WRITTEN, EPOCHS, EpochStep.APPENDED, EPOCHS), steps);
    }

    @Test
    void epochsInTransactionsLeaveNothing() throws Exception {
        copyOneByOne(stream(NEEDS_TRANSACTIONS));
        assertEquals(Map.of(
                EpochStep.WRITTEN, EPOCHS, EpochStep.RECORDED, EPOCHS, EpochStep.COMMITTED, EPOCHS), steps);
    }

    @Test
    void epochsAtLeastOnceLeaveNothing() throws Exception {
        exactlyOnce = false;
        copyOneByOne(stream(2));
        assertEquals(Map.of(), steps);
    }

    private void copyOneByOne(String target) throws Exception {
        String source = stream(1);
        append(source, 0, FIRST_EPOCHS);
        copyTheRest(source, target);
        int threads = threads().size();
        long files = openFiles();
        int connections = LiveObjects.count(CONNECTION);
        append(source, FIRST_EPOCHS, EPOCHS);
        copyTheRest(source, target);

        assertTrue(threads().size() <= threads + THREADS_THAT_COME_AND_GO, () -> threads().toString());
        assertTrue(openFiles() <= files + FILES_THAT_COME_AND_GO, () -> files + " files, then " + openFiles());
        assertTrue(LiveObjects.count(CONNECTION) <= connections + FILES_THAT_COME_AND_GO,
                () -> connections + " connections, then " + LiveObjects.count(CONNECTION));
        try (Connections.Lease lease = Connections.lease(connection())) {
            assertFalse(lease.connection().leases().any());
        }
        OpenTransactions.assertNoneRemains(target, Duration.ofSeconds(10));
        assertEquals(range(0, EPOCHS), numbers(target));
    }

    private void copyTheRest(String source, String target) throws Exception {
        StreamingQuery query = copy(readStream(source).option("max_events_per_trigger", 1).load(), target, checkpoint)
                .option("exactly_once", exactlyOnce).trigger(Trigger.AvailableNow()).start();
        query.awaitTermination();
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).sorted().toList();
    }

    /** Connections are among them. */
    private static long openFiles() {
        return ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getOpenFileDescriptorCount();
    }
}
