// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import static io.github.murmuration.nats.spark.testing.NatsStore.nats;
import static io.github.murmuration.nats.spark.testing.NatsStore.server;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.nats.spark.testing.CopyDriver;
import io.github.murmuration.nats.spark.testing.SparkTest;
import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LocalSpark;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.commons.io.FileUtils;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The driver is killed while it writes, and started again. */
class KilledDriverTest extends SparkTest {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @TempDir
    Path folder;

    private DriverProcess driver(String source, String target, int batch, int killedAt, boolean ends)
            throws Exception {
        return new DriverProcess(folder.resolve("driver-" + killedAt + "-" + System.nanoTime() + ".log"),
                LocalSpark.classPath(), CopyDriver.class, server().url(), source, target,
                folder.resolve("checkpoint"), 2000, batch, killedAt, ends);
    }

    /** Two tasks write to three partitions in one part each: twelve steps make an epoch. */
    @Test
    void betweenPartitions() throws Exception {
        isKilled(10_000, 14, 5, 8);
    }

    /** Each of two tasks writes to three partitions in four parts. */
    @Test
    void betweenParts() throws Exception {
        isKilled(100, 9, 21, 30, 3, 17);
    }

    private void isKilled(int batch, int... steps) throws Exception {
        String source = nats().stream(2);
        String target = nats().stream(3);
        append(source, 0, 7000);
        for (int step : steps) {
            try (DriverProcess driver = driver(source, target, batch, step, true)) {
                assertEquals(DriverProcess.KILLED, driver.ended(LIMIT));
            }
        }
        try (DriverProcess driver = driver(source, target, batch, 0, true)) {
            assertEquals(0, driver.ended(LIMIT));
            assertTrue(driver.log().stream().anyMatch(line -> line.contains("was begun before")));
        }
        assertEquals(range(0, 7000), numbers(target));
    }

    /**
     * A second driver with a copy of the checkpoint: the first one ends, and no event is there twice. What the source
     * gets comes all at once, so that both drivers make the same epochs of it.
     */
    @Test
    void aSecondDriverFencesTheFirst() throws Exception {
        String source = nats().stream(2);
        String target = nats().stream(3);
        appendAtOnce(source, 0, 1000);
        try (DriverProcess first = driver(source, target, 10_000, 0, false)) {
            waitUntilItIsDone(0);
            Path copy = folder.resolve("copy");
            FileUtils.copyDirectory(folder.resolve("checkpoint").toFile(), copy.toFile());
            appendAtOnce(source, 1000, 1500);
            waitUntilItIsDone(1);
            run(second(source, target, copy));
            assertEquals(range(0, 1500), numbers(target));
            appendAtOnce(source, 1500, 1600);
            assertEquals(1, first.ended(LIMIT));
            assertTrue(first.log().stream().anyMatch(line -> line.contains("another driver runs query")));
            run(second(source, target, copy));
        }
        assertEquals(range(0, 1600), numbers(target));
    }

    /** As an atomic batch for one partition. */
    private void appendAtOnce(String stream, int from, int until) {
        writer(events(stream, from, until).coalesce(1).selectExpr("event", "'one' AS key"), stream).save();
    }

    /** The same query, without another one's limits. */
    private DataStreamWriter<Row> second(String source, String target, Path checkpoint) {
        return copy(readStream(source).load().selectExpr("event", "CASE WHEN offset % 3 = 0 THEN key END AS key"),
                target, checkpoint);
    }

    /** That the checkpoint says so: a copy without it would be one that was set back. */
    private void waitUntilItIsDone(int epoch) throws InterruptedException {
        Path commit = folder.resolve("checkpoint/commits/" + epoch);
        long limit = System.nanoTime() + LIMIT.toNanos();
        while (!Files.exists(commit)) {
            assertTrue(System.nanoTime() < limit, () -> "epoch " + epoch + " is not done");
            Thread.sleep(100);
        }
    }
}
