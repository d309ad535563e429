// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.write;

import static io.github.murmuration.pulsar.spark.testing.PulsarStore.pulsar;
import static io.github.murmuration.pulsar.spark.testing.PulsarStore.server;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pulsar.spark.testing.CopyDriver;
import io.github.murmuration.pulsar.spark.testing.SparkTest;
import io.github.murmuration.pulsar.spark.testing.TestPulsar;
import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LocalSpark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The driver is killed while it writes, and started again. */
class KilledDriverTest extends SparkTest {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int EVENTS_PER_EPOCH = 2000;

    @TempDir
    Path folder;

    /** Within an epoch each time: the first one, one of those after it, and the same one once more. */
    @Test
    void losesNothing() throws Exception {
        String source = pulsar().stream(2);
        String target = pulsar().stream(3);
        append(source, 0, 9000);
        for (int row : new int[] {1500, 5000, 700}) {
            assertEquals(DriverProcess.KILLED, ended(source, target, row));
            assertEquals(1, epochs("offsets") - epochs("commits"));
        }
        List<Integer> before = numbers(target);
        assertTrue(!before.isEmpty() && before.stream().distinct().count() < 9000, before::toString);
        assertEquals(0, ended(source, target, 0));
        List<Integer> after = numbers(target);
        assertEquals(range(0, 9000), after.stream().distinct().toList());
        assertTrue(after.size() > 9000, () -> "no row of an epoch that was begun before is there twice");
    }

    private int ended(String source, String target, int killedAt) throws Exception {
        try (DriverProcess driver = new DriverProcess(folder.resolve("driver-" + killedAt + ".log"),
                LocalSpark.classPath(), CopyDriver.class, server().service(), server().admin(),
                TestPulsar.NAMESPACE, source, target, folder.resolve("checkpoint"), EVENTS_PER_EPOCH, killedAt)) {
            return driver.ended(LIMIT);
        }
    }

    /** How many the checkpoint knows. */
    private int epochs(String log) throws IOException {
        Path logged = folder.resolve("checkpoint").resolve(log);
        if (!Files.exists(logged)) {
            return 0;
        }
        try (var files = Files.list(logged)) {
            return (int) files.filter(file -> file.getFileName().toString().matches("\\d+")).count();
        }
    }
}
