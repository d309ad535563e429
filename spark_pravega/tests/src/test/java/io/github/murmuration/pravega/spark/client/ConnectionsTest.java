// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.PravegaOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What connections leave in a JVM that goes on. No server is asked: a connection is made before it is needed. */
class ConnectionsTest {
    private static final PravegaOptions OPTIONS = new PravegaOptions(Map.of("controller", "tcp://127.0.0.1:1"));
    private static final String SCHEDULED = "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask";
    private static final String POOL = "io.pravega.client.connection.impl.ConnectionPoolImpl";
    private static final int MANY = 20;
    /** Above the 30 s after which what is not used is closed. */
    private static final Duration IDLE = Duration.ofSeconds(50);

    @TempDir
    Path folder;

    @Test
    void usesLeaveNothingToDo() {
        try (Connections.Lease inUse = Connections.lease(OPTIONS)) {
            int jobs = LiveObjects.count(SCHEDULED);
            for (int use = 0; use < 50 * MANY; use++) {
                Connections.lease(OPTIONS).close();
            }
            int left = LiveObjects.count(SCHEDULED);
            assertTrue(left <= jobs + MANY, () -> jobs + " jobs, then " + left);
        }
    }

    @Test
    void oneThatIsNotUsedEndsWithItsThreads() throws Exception {
        Connections.lease(OPTIONS).close();
        long end = System.nanoTime() + IDLE.toNanos();
        while (Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("pravega-connections"))) {
            assertTrue(System.nanoTime() < end, "the thread that closes connections runs on");
            Thread.sleep(1000);
        }
    }

    @Test
    void oneThatCannotBeMadeLeavesNothing() {
        PravegaOptions untrusting = OPTIONS.with(Map.of(
                "controller", "tls://127.0.0.1:1", "trust_store", folder.resolve("missing").toString()));
        assertThrows(RuntimeException.class, () -> Connections.lease(untrusting));
        int threads = Thread.getAllStackTraces().size();
        int pools = LiveObjects.count(POOL);
        for (int attempt = 0; attempt < MANY; attempt++) {
            assertThrows(RuntimeException.class, () -> Connections.lease(untrusting));
        }
        assertTrue(Thread.getAllStackTraces().size() < threads + MANY, () -> Thread.getAllStackTraces().toString());
        assertTrue(LiveObjects.count(POOL) < pools + MANY, () -> pools + " pools, then " + LiveObjects.count(POOL));
    }
}
