// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import static io.pravega.shared.NameUtils.computeSegmentId;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.AtLogLine;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.write.epoch.KilledDriver.Point;
import io.github.murmuration.pravega.spark.write.epoch.KilledDriver.Target;
import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LocalSpark;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Exactly once, however the driver dies. */
class KilledDriverTest extends SparkTest {
    private static final Duration UNTIL_CLOSED = Duration.ofSeconds(40);
    private static final int KILLED = 128 + 9;
    private static final int EVENTS = 120;
    private static final Map<Double, Double> HALVES = Map.of(0.0, 0.5, 0.5, 1.0);
    /** Drivers ask for the open segments of a stream every 10 s. */
    private static final long UNTIL_SEGMENTS_ARE_FORGOTTEN_MS = 11_000;

    @TempDir
    Path folder;

    @Test
    void nothingIsLostOrRepeatedWhenOneDriverAfterAnotherIsKilled() throws Exception {
        copyWithKills(List.of(Point.RECORDED, Point.PARTLY_COMMITTED, Point.COMMITTED), Target.SINK);
    }

    @ParameterizedTest
    @EnumSource(value = Point.class, mode = EnumSource.Mode.EXCLUDE, names = {
        "APPENDED", "NEVER", "HELD", "HELD_IN_A_TASK", "HELD_WRITTEN"})
    void nothingIsLostOrRepeatedWhenTheDriverIsKilled(Point point) throws Exception {
        copyWithKills(List.of(point), Target.SINK);
    }

    @ParameterizedTest
    @EnumSource(value = Point.class, names = {"IN_A_TASK", "WRITTEN", "APPENDED"})
    void nothingIsLostOrRepeatedWhenADriverThatAppendsIsKilled(Point point) throws Exception {
        String target = stream(2);
        copyWithKills(List.of(point), target, target, Target.SINK);
        assertEquals(range(0, EVENTS), numbers(target));
    }

    @ParameterizedTest
    @EnumSource(value = Point.class, mode = EnumSource.Mode.EXCLUDE, names = {
        "APPENDED", "NEVER", "HELD", "HELD_IN_A_TASK", "HELD_WRITTEN"})
    void nothingIsLostOrRepeatedWhenADriverInForeachBatchIsKilled(Point point) throws Exception {
        copyWithKills(List.of(point), Target.FOREACH_BATCH);
    }

    @Test
    @Tag("core")
    void nothingIsLostOrRepeatedWhenADriverIsKilledBetweenItsAppends() throws Exception {
        String source = stream(2);
        append(source, 0, EVENTS);
        killBetweenAppends(source, stream(4), Duration.ZERO);
    }

    /** What this JVM remembers of the query is no longer true when it comes back, and its connections are closed. */
    @Test
    void nothingIsLostOrRepeatedWhenAQueryComesBackFromADriverThatWasKilled() throws Exception {
        String source = stream(2);
        String target = stream(4);
        append(source, 0, KilledAppends.EVENTS_PER_EPOCH);
        KilledAppends.run(spark(), source, target, folder.resolve("checkpoint").toString());
        append(source, KilledAppends.EVENTS_PER_EPOCH, EVENTS);
        killBetweenAppends(source, target, UNTIL_CLOSED);
    }

    /** When two of four segments have their part of the second epoch, of rows with keys. */
    private void killBetweenAppends(String source, String target, Duration pause) throws Exception {
        Path checkpoint = folder.resolve("checkpoint");
        assertEquals(KILLED, DriverProcess.start(Redirect.appendTo(folder.resolve("driver.log").toFile()),
                LocalSpark.classPath(), KilledAppends.class, source, target, checkpoint).waitFor(), this::log);
        Thread.sleep(pause.toMillis());
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
        Process held = begin(source, even, odd, checkpoint, Point.HELD.name(), Target.SINK.name());
        awaitHeld(held);
        Runnable awakened = () -> {
            try {
                wakeUp(held);
            } catch (InterruptedException failed) {
                throw new IllegalStateException(failed);
            }
        };
        try (AtLogLine line = new AtLogLine(EpochCommit.class, "Nothing of the earlier attempt", awakened)) {
            KilledDriver.run(spark(), source, even, odd, checkpoint, Point.NEVER, Target.SINK);
            assertTrue(line.wasLogged());
        } finally {
            held.destroyForcibly();
        }
        assertNotEquals(0, held.exitValue(), this::log);
        assertEquals(range(0, EVENTS), both(numbers(even), numbers(odd)).stream().sorted().toList());
    }

    /** Another one has written its epoch and a later one, each to segments that there were not before. */
    @ParameterizedTest
    @EnumSource(value = Point.class, names = {"HELD_IN_A_TASK", "HELD_WRITTEN"})
    void aDriverThatWakesUpWhenItsEpochIsInAnotherSegmentDoesNotAppendIt(Point point) throws Exception {
        String source = stream(1);
        String target = stream(1);
        String checkpoint = folder.resolve("checkpoint").toString();
        append(source, 0, 20);
        append(source, 20, 40);
        Process held = begin(source, target, target, checkpoint, point.name(), Target.SINK.name());
        try {
            awaitHeld(held);
            scale(target, List.of(0L), HALVES);
            KilledDriver.run(spark(), source, target, target, checkpoint, Point.NEVER, Target.SINK);
            scale(target, List.of(computeSegmentId(1, 1), computeSegmentId(2, 1)), HALVES);
            append(source, 40, 50);
            Thread.sleep(UNTIL_SEGMENTS_ARE_FORGOTTEN_MS);
            KilledDriver.run(spark(), source, target, target, checkpoint, Point.NEVER, Target.SINK);
            wakeUp(held);
        } finally {
            held.destroyForcibly();
        }
        assertEquals(range(0, 50), numbers(target), this::log);
        assertNotEquals(0, held.exitValue(), this::log);
    }

    private static void wakeUp(Process held) throws InterruptedException {
        DriverProcess.signal(held.toHandle(), "CONT");
        assertTrue(held.waitFor(60, TimeUnit.SECONDS));
    }

    private static void awaitHeld(Process process) throws Exception {
        Path state = Path.of("/proc", Long.toString(process.pid()), "stat");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!Files.readString(state).replaceAll(".*\\) ", "").startsWith("T")) {
            assertTrue(process.isAlive() && System.nanoTime() < end);
            Thread.sleep(50);
        }
    }

    private void copyWithKills(List<Point> points, Target target) throws Exception {
        String even = stream(2);
        String odd = stream(1);
        copyWithKills(points, even, odd, target);
        assertEquals(range(0, EVENTS).stream().filter(number -> number % 2 == 0).toList(), numbers(even));
        assertEquals(range(0, EVENTS).stream().filter(number -> number % 2 == 1).toList(), numbers(odd));
    }

    private void copyWithKills(List<Point> points, String even, String odd, Target target) throws Exception {
        String source = stream(2);
        String checkpoint = folder.resolve("checkpoint").toString();
        append(source, 0, EVENTS);
        for (Point point : points) {
            assertEquals(KILLED, drive(source, even, odd, checkpoint, point.name(), target.name()), this::log);
        }
        KilledDriver.run(spark(), source, even, odd, checkpoint, Point.NEVER, target);
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
