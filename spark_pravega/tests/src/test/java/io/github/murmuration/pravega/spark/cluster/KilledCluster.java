// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LocalSpark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A query on a cluster whose processes are killed one after the other. How far it is, its checkpoint tells, which no
 * kill can take back: Spark writes a file for an epoch when it begins and another when it is done.
 */
final class KilledCluster implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(180);
    /** Longer takes no epoch while nothing is dead, on a machine where a driver starts within a third of it. */
    private static final Duration EPOCH_LIMIT = Duration.ofSeconds(30);
    /** On a slower one, this many times as long as a driver needs to start: its executors have to start as well. */
    private static final int STARTS_PER_EPOCH = 3;
    private static final Duration END_LIMIT = Duration.ofSeconds(60);
    private static final long POLL_MS = 5;
    private static final int LAST_LINES = 40;

    /** The last epoch that has begun, and the last that is done; -1 if none. */
    private record Progress(long begun, long done) {
    }

    /** A killed driver, by its number, how far the query was, and the ends of the target's segments then. */
    record Death(int driver, long begun, long done, Map<Long, Long> ends) {
    }

    private final Path folder;
    private final long seed;
    private final long rows;
    private final String target;
    private final List<DriverProcess> drivers = new ArrayList<>();
    private final List<Death> deaths = new ArrayList<>();
    private final Set<ProcessHandle> processes = new LinkedHashSet<>();
    private int executorsKilled;
    private Progress progress = new Progress(-1, -1);
    private long movedAt;
    private long longestNanos;
    private long epochLimitNanos = EPOCH_LIMIT.toNanos();

    /** @param folder of the checkpoint and of the drivers' logs, empty */
    KilledCluster(Path folder, long seed, long rows, String target) {
        this.folder = folder;
        this.seed = seed;
        this.rows = rows;
        this.target = target;
    }

    /** @throws IllegalStateException if an epoch took too long, or a driver ended that nobody killed */
    void runToTheEnd(List<Kill> kills) throws Exception {
        start();
        for (Kill kill : kills) {
            while (!isTimeFor(kill)) {
                watch();
                expect(driver().isAlive(), "ended before all kills were done");
            }
            Thread.sleep(kill.delayMs());
            if (kill.step() != null) {
                awaitDeathIn(kill.step());
            } else if (kill.ofDriver()) {
                killDriver();
            } else {
                killExecutor(kill);
            }
        }
        while (driver().isAlive()) {
            watch();
        }
        expect(driver().ended(END_LIMIT) == 0, "failed");
    }

    List<Death> deaths() {
        return deaths;
    }

    int executorsKilled() {
        return executorsKilled;
    }

    /** From one file of the checkpoint to the next, or to a kill. */
    Duration longestPause() {
        return Duration.ofNanos(longestNanos);
    }

    /** What an epoch could have taken at most. */
    Duration epochLimit() {
        return Duration.ofNanos(epochLimitNanos);
    }

    /** What each driver has printed. */
    List<List<String>> logs() throws IOException {
        List<List<String>> logs = new ArrayList<>();
        for (DriverProcess driver : drivers) {
            logs.add(driver.log());
        }
        return logs;
    }

    /** Drivers and executors that have not ended, although all is done. */
    List<ProcessHandle> remaining() throws InterruptedException {
        long limit = System.nanoTime() + END_LIMIT.toNanos();
        while (processes.stream().anyMatch(ProcessHandle::isAlive) && System.nanoTime() < limit) {
            Thread.sleep(POLL_MS);
        }
        return processes.stream().filter(ProcessHandle::isAlive).toList();
    }

    @Override
    public void close() {
        processes.forEach(ProcessHandle::destroyForcibly);
    }

    private void start() throws Exception {
        drivers.add(new DriverProcess(logFile(drivers.size()), LocalSpark.classPath(), ClusterDriver.class,
                seed, rows, target, folder.resolve("checkpoint"), folder));
        processes.add(driver().handle());
        movedAt = System.nanoTime();
        while (!driver().log().contains(ClusterDriver.STARTED)) {
            expect(driver().isAlive(), "ended before its query began");
            expect(System.nanoTime() - movedAt < START_LIMIT.toNanos(), "did not start within " + START_LIMIT);
            Thread.sleep(20 * POLL_MS);
        }
        long started = System.nanoTime();
        epochLimitNanos = Math.max(epochLimitNanos, STARTS_PER_EPOCH * (started - movedAt));
        movedAt = started;
    }

    private boolean isTimeFor(Kill kill) throws IOException {
        return progress.begun() >= kill.epoch()
                && (!kill.afterTasks() || KillStep.isAfterTasks(driver().log(), kill.epoch()));
    }

    private void killDriver() throws Exception {
        processes.addAll(driver().executors());
        expect(driver().isAlive(), "ended before it was killed");
        driver().kill();
        replaceDriver();
    }

    private void awaitDeathIn(KillStep step) throws Exception {
        Path order = Files.createFile(folder.resolve(step.name()));
        while (driver().isAlive()) {
            watch();
        }
        expect(driver().ended(END_LIMIT) == DriverProcess.KILLED, "ended before it was killed");
        Files.delete(order);
        replaceDriver();
    }

    private void replaceDriver() throws Exception {
        Map<Long, Long> ends = SparkTest.streams().fetchStreamInfo(DurablePravega.SCOPE, target).join()
                .getTailStreamCut().asImpl().getPositions().entrySet().stream()
                .collect(Collectors.toMap(end -> end.getKey().getSegmentId(), Map.Entry::getValue));
        progress = readProgress();
        deaths.add(new Death(drivers.size() - 1, progress.begun(), progress.done(), ends));
        start();
    }

    private void killExecutor(Kill kill) throws Exception {
        List<ProcessHandle> executors = driver().executors();
        while (executors.isEmpty()) {
            expect(driver().isAlive(), "ended before all kills were done");
            watch();
            executors = driver().executors();
        }
        processes.addAll(executors);
        executors.get((int) kill.delayMs() % executors.size()).destroyForcibly();
        executorsKilled++;
        movedAt = System.nanoTime();
    }

    /** A short while in which an epoch may come to its end. */
    private void watch() throws Exception {
        Thread.sleep(POLL_MS);
        Progress now = readProgress();
        long pause = System.nanoTime() - movedAt;
        if (!now.equals(progress)) {
            progress = now;
            movedAt += pause;
            longestNanos = Math.max(longestNanos, pause);
            processes.addAll(driver().executors());
        } else if (pause > epochLimitNanos) {
            driver().printThreads();
            expect(false, "made no progress for " + epochLimit());
        }
    }

    private Progress readProgress() throws IOException {
        return new Progress(last("offsets"), last("commits"));
    }

    private long last(String log) throws IOException {
        Path files = folder.resolve("checkpoint").resolve(log);
        if (!Files.exists(files)) {
            return -1;
        }
        try (Stream<Path> all = Files.list(files)) {
            return all.map(file -> file.getFileName().toString()).filter(name -> name.matches("\\d+"))
                    .mapToLong(Long::parseLong).max().orElse(-1);
        }
    }

    private Path logFile(int driver) {
        return folder.resolve("driver-" + driver + ".log");
    }

    private DriverProcess driver() {
        return drivers.get(drivers.size() - 1);
    }

    private void expect(boolean condition, String otherwise) throws IOException {
        if (!condition) {
            int number = drivers.size() - 1;
            List<String> log = driver().log().stream().filter(line -> !line.startsWith("\tat ")).toList();
            String lastLines = String.join("\n", log.subList(Math.max(0, log.size() - LAST_LINES), log.size()));
            throw new IllegalStateException(
                    "driver %d %s; epoch %d has begun, %d is done; killed: %d drivers, %d executors; %s ends with%n%s"
                    .formatted(number, otherwise, progress.begun(), progress.done(), deaths.size(), executorsKilled,
                            logFile(number), lastLines));
        }
    }
}
