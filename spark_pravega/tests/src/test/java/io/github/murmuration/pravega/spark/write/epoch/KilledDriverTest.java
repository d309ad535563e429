// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.AtLogLine;
import io.github.murmuration.pravega.spark.testing.DriverProcess;
import io.github.murmuration.pravega.spark.testing.LocalSpark;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.write.epoch.KilledDriver.Point;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Exactly once, however the driver dies. */
class KilledDriverTest extends SparkTest {
    private static final int KILLED = 128 + 9;
    private static final int EVENTS = 120;

    @TempDir
    Path folder;

    @Test
    @Tag("core")
    void nothingIsLostOrRepeatedWhenOneDriverAfterAnotherIsKilled() throws Exception {
        copyWithKills(List.of(Point.RECORDED, Point.PARTLY_COMMITTED, Point.COMMITTED));
    }

    @ParameterizedTest
    @EnumSource(value = Point.class, mode = EnumSource.Mode.EXCLUDE, names = {"APPENDED", "NEVER", "HELD"})
    void nothingIsLostOrRepeatedWhenTheDriverIsKilled(Point point) throws Exception {
        copyWithKills(List.of(point));
    }

    @ParameterizedTest
    @EnumSource(value = Point.class, names = {"IN_A_TASK", "WRITTEN", "APPENDED"})
    void nothingIsLostOrRepeatedWhenADriverThatAppendsIsKilled(Point point) throws Exception {
        String target = stream(2);
        copyWithKills(List.of(point), target, target);
        assertEquals(range(0, EVENTS), numbers(target));
    }

    /** Two of four segments have their part of its second epoch, of rows with keys. */
    @Test
    @Tag("core")
    void nothingIsLostOrRepeatedWhenADriverIsKilledBetweenItsAppends() throws Exception {
        String source = stream(2);
        String target = stream(4);
        Path checkpoint = folder.resolve("checkpoint");
        append(source, 0, EVENTS);
        assertEquals(KILLED, DriverProcess.start(Redirect.appendTo(folder.resolve("driver.log").toFile()),
                LocalSpark.classPath(), KilledAppends.class, source, target, checkpoint).waitFor(), this::log);
        int there = numbers(target).size();
        assertTrue(there > KilledAppends.EVENTS_PER_EPOCH && there < 2 * KilledAppends.EVENTS_PER_EPOCH, this::log);
        KilledAppends.run(spark(), source, target, checkpoint.toString());
        assertEquals(range(0, EVENTS), numbers(target));
    }

    /** It was held with its epoch recorded, and goes on while another one takes its place. */
    @Test
    void aDriverThatWakesUpWhileAnotherRepairsItsEpochRepeatsNothing() throws Exception {
        String source = stream(2);
        String even = stream(2);
        String odd = stream(1);
        String checkpoint = folder.resolve("checkpoint").toString();
        append(source, 0, EVENTS);
        Process held = begin(source, even, odd, checkpoint, Point.HELD.name());
        awaitHeld(held);
        Runnable wakeUp = () -> {
            try {
                new ProcessBuilder("kill", "-CONT", Long.toString(held.pid())).start().waitFor();
                assertTrue(held.waitFor(60, TimeUnit.SECONDS));
            } catch (IOException | InterruptedException failed) {
                throw new IllegalStateException(failed);
            }
        };
        try (AtLogLine line = new AtLogLine(EpochCommit.class, "Nothing of the earlier attempt", wakeUp)) {
            KilledDriver.run(spark(), source, even, odd, checkpoint, Point.NEVER);
            assertTrue(line.wasLogged());
        } finally {
            held.destroyForcibly();
        }
        assertNotEquals(0, held.exitValue(), this::log);
        assertEquals(range(0, EVENTS), both(numbers(even), numbers(odd)).stream().sorted().toList());
    }

    private static void awaitHeld(Process process) throws Exception {
        Path state = Path.of("/proc", Long.toString(process.pid()), "stat");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!Files.readString(state).replaceAll(".*\\) ", "").startsWith("T")) {
            assertTrue(process.isAlive() && System.nanoTime() < end);
            Thread.sleep(50);
        }
    }

    private void copyWithKills(List<Point> points) throws Exception {
        String even = stream(2);
        String odd = stream(1);
        copyWithKills(points, even, odd);
        assertEquals(range(0, EVENTS).stream().filter(number -> number % 2 == 0).toList(), numbers(even));
        assertEquals(range(0, EVENTS).stream().filter(number -> number % 2 == 1).toList(), numbers(odd));
    }

    private void copyWithKills(List<Point> points, String even, String odd) throws Exception {
        String source = stream(2);
        String checkpoint = folder.resolve("checkpoint").toString();
        append(source, 0, EVENTS);
        for (Point point : points) {
            assertEquals(KILLED, drive(source, even, odd, checkpoint, point.name()), this::log);
        }
        KilledDriver.run(spark(), source, even, odd, checkpoint, Point.NEVER);
    }

    private int drive(String... arguments) throws Exception {
        return begin(arguments).waitFor();
    }

    private Process begin(String... arguments) throws Exception {
        return DriverProcess.start(Redirect.appendTo(folder.resolve("driver.log").toFile()),
                LocalSpark.classPath(), KilledDriver.class, (Object[]) arguments);
    }

    private String log() {
        try {
            return Files.readString(folder.resolve("driver.log"));
        } catch (IOException missing) {
            return missing.toString();
        }
    }
}
