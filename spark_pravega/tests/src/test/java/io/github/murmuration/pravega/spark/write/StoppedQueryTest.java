// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.read.realtime.Arrivals;
import io.github.murmuration.pravega.spark.read.realtime.Feed;
import io.github.murmuration.pravega.spark.read.realtime.RealTimeDriver;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.SegmentStoreCommands;
import io.github.murmuration.spark.testing.LogListener;
import io.pravega.shared.protocol.netty.WireCommands;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What stopping a query leaves. */
class StoppedQueryTest extends SparkTest {
    private static final Pattern CLIENT_THREAD = Pattern.compile("clientInternal-\\d+");

    @TempDir
    Path checkpoint;

    @Test
    void stoppedAtAnyMomentItGoesOnWithoutLossOrRepetition() throws Exception {
        String source = stream(2);
        String target = stream(2);
        append(source, 0, 300);
        Dataset<Row> events = readStream(source).option("max_events_per_trigger", 10).load();
        Random random = new Random(1);
        for (int stop = 0; stop < 5; stop++) {
            StreamingQuery query = copy(events, target, checkpoint).start();
            query.awaitTermination(500 + random.nextInt(1500));
            query.stop();
            assertTrue(query.exception().isEmpty(), () -> query.exception().get().toString());
        }
        StreamingQuery last = copy(events, target, checkpoint).start();
        last.processAllAvailable();
        last.stop();

        assertEquals(range(0, 300), numbers(target));
    }

    /** The query does not know that its append was done; the same JVM runs it again over the same connection. */
    @Test
    void anEpochWhoseAppendWasInterruptedIsNotAppendedAgain() throws Exception {
        String source = stream(1);
        String target = stream(1);
        CountDownLatch answered = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        StreamingQuery query = copyWithoutKeys(readStream(source).load().select("event"), target, checkpoint).start();
        append(source, 0, 10);
        query.processAllAvailable();
        try (LogListener late = new SegmentStoreCommands(command -> {
            if (command instanceof WireCommands.DataAppended && stopped.getCount() > 0) {
                answered.countDown();
                await(stopped);
            }
        })) {
            append(source, 10, 20);
            await(answered);
            query.stop();
        } finally {
            stopped.countDown();
        }
        StreamingQuery next = copyWithoutKeys(readStream(source).load().select("event"), target, checkpoint)
                .trigger(Trigger.AvailableNow()).start();
        try {
            boolean ended = next.awaitTermination(30_000);
            assertEquals(range(0, 20), numbers(target));
            assertTrue(ended);
        } finally {
            next.stop();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(60, TimeUnit.SECONDS));
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Test
    void connectionsEndWhenNoOneUsesThem() throws Exception {
        String source = stream(1);
        append(source, 0, 10);
        StreamingQuery query = copy(readStream(source).load(), stream(1), checkpoint).start();
        query.processAllAvailable();
        query.stop();
        assertConnectionsEnd();
    }

    /** Its tasks are interrupted, as they never end by themselves. */
    @Test
    void aRealTimeQueryThatIsStoppedInTheMidstLeavesNothing() throws Exception {
        String source = stream(2);
        String target = stream(2);
        try (Feed feed = new Feed(source); Arrivals arrivals = new Arrivals(target)) {
            StreamingQuery query = RealTimeDriver.copy(spark(), source, target, checkpoint.toString(), 300_000).start();
            feed.send(100);
            arrivals.await(100, Duration.ofSeconds(30));
            CompletableFuture<Void> feeding = CompletableFuture.runAsync(() -> feed.send(2000, 2000));
            Thread.sleep(1000);
            query.stop();
            feeding.get();
            assertTrue(query.exception().isEmpty(), () -> query.exception().get().toString());
        }
        assertConnectionsEnd();
    }

    private static void assertConnectionsEnd() throws InterruptedException {
        int own = 1; // the client with which the tests make streams
        long limit = System.nanoTime() + Duration.ofSeconds(90).toNanos();
        while (clients().size() > own && System.nanoTime() < limit) {
            Thread.sleep(500);
        }
        assertEquals(own, clients().size(), () -> clients().toString());
    }

    private static Set<String> clients() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(thread -> CLIENT_THREAD.matcher(thread.getName()))
                .filter(Matcher::find).map(Matcher::group).collect(Collectors.toSet());
    }
}
