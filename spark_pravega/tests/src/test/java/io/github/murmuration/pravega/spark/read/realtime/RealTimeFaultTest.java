// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LocalSpark;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How soon a real-time query, in a process of its own, writes what it reads: from when an event was due until it can be
 * read in the target, with both streams durable. {@code -Dpravega.test.real.time.seconds} says how long it is measured.
 */
class RealTimeFaultTest extends SparkTest {
    /** An event does not wait for the end of its batch, minutes later; how much less it is, depends on the machine. */
    private static final long LIMIT_P50_MICROS = 1000L * Integer.getInteger("pravega.test.real.time.p50.ms", 10_000);
    private static final long LIMIT_P99_MICROS = 1000L * Integer.getInteger("pravega.test.real.time.p99.ms", 30_000);
    private static final long MILLIS = 1000L * Integer.getInteger("pravega.test.real.time.seconds", 20);
    private static final long WARM_UP_MS = 5_000;
    private static final Duration START_LIMIT = Duration.ofSeconds(90);
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    Path folder;
    private final String source = stream(4);
    private final String target = stream(4);
    private Process driver;

    @AfterEach
    void kill() throws InterruptedException {
        driver.destroyForcibly().waitFor();
    }

    @Test
    void anEventArrivesWithinMilliseconds() throws Exception {
        try (Feed feed = new Feed(source);
                Arrivals written = new Arrivals(source);
                Arrivals copied = new Arrivals(target)) {
            long start = startAndWarmUp(feed, copied, 1000);
            feed.send(1000, MILLIS);
            copied.await(feed.sent(), LIMIT);
            copied.assertOnceAndInOrder();
            List<Long> micros = micros(copied, start);
            String found = "from event to sink p50 %d us, p99 %d us, longest %d us, of %d; to the source p50 %d us"
                    .formatted(quantile(micros, 0.5), quantile(micros, 0.99), quantile(micros, 1), micros.size(),
                            quantile(micros(written, start), 0.5));
            System.out.println("real time: " + found);
            assertTrue(quantile(micros, 0.5) < LIMIT_P50_MICROS && quantile(micros, 0.99) < LIMIT_P99_MICROS, found);
        }
    }

    @Test
    void aScaleDelaysNoEventByFiveSecondsAndKeepsTheOrderOfKeys() throws Exception {
        try (Feed feed = new Feed(source); Arrivals arrivals = new Arrivals(target)) {
            long start = startAndWarmUp(feed, arrivals, 500);
            CompletableFuture<Void> split = scaleAfter(MILLIS / 4, List.of(0L), Map.of(0.0, 0.125, 0.125, 0.25));
            CompletableFuture<Void> merge = scaleAfter(MILLIS / 2, List.of(1L, 2L), Map.of(0.25, 0.75));
            feed.send(500, MILLIS);
            CompletableFuture.allOf(split, merge).get();
            arrivals.await(feed.sent(), LIMIT);
            arrivals.assertOnceAndInOrder();
            long longest = quantile(micros(arrivals, start), 1);
            System.out.println("real time: while segments split and merge, longest " + longest + " us");
            assertTrue(longest < 5_000_000, () -> longest + " us");
        }
    }

    @Test
    void nothingIsLostWhenTheDriverIsKilledFiveTimes() throws Exception {
        Random random = new Random(1);
        try (Feed feed = new Feed(source); Arrivals arrivals = new Arrivals(target)) {
            for (int kill = 0; kill < 5; kill++) {
                start(2000);
                feed.send(20);
                arrivals.await(feed.sent(), START_LIMIT);
                Executor inTheMidst = CompletableFuture.delayedExecutor(random.nextInt(4000), TimeUnit.MILLISECONDS);
                CompletableFuture<Process> killed = CompletableFuture.supplyAsync(driver::destroyForcibly, inTheMidst);
                feed.send(200, 4000);
                killed.get().waitFor();
            }
            start(2000);
            arrivals.await(feed.sent(), START_LIMIT);
            arrivals.assertInOrder();
        }
    }

    private CompletableFuture<Void> scaleAfter(long millis, List<Long> sealed, Map<Double, Double> ranges) {
        return CompletableFuture.runAsync(() -> {
            try {
                scale(source, sealed, ranges);
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }, CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
    }

    /** When the measurement begins: the query runs in one batch that lasts longer than the test. */
    private long startAndWarmUp(Feed feed, Arrivals arrivals, int perSecond) throws Exception {
        start(TimeUnit.MINUTES.toMillis(5));
        feed.send(perSecond);
        arrivals.await(perSecond, START_LIMIT);
        feed.send(perSecond, WARM_UP_MS);
        return System.nanoTime();
    }

    private void start(long batchMs) throws IOException {
        driver = DriverProcess.start(Redirect.appendTo(folder.resolve("driver.log").toFile()),
                LocalSpark.classPath(), RealTimeDriver.class,
                source, target, folder.resolve("checkpoint").toString(), Long.toString(batchMs));
    }

    private static List<Long> micros(Arrivals arrivals, long since) {
        return arrivals.soFar().stream().filter(each -> each.due() >= since)
                .map(Arrivals.Arrival::micros).sorted().toList();
    }

    private static long quantile(List<Long> sorted, double part) {
        return sorted.get((int) (part * (sorted.size() - 1)));
    }
}
