// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.read.realtime.Arrivals;
import io.github.murmuration.pravega.spark.read.realtime.Feed;
import io.github.murmuration.pravega.spark.read.realtime.RealTimeDriver;
import io.github.murmuration.pravega.spark.testing.OpenTransactions;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.pravega.common.hash.HashHelper;
import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.SparkStatusTracker;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Exactly once, whatever happens to executors, which are processes of their own: one that dies takes its transactions
 * along, and what it did not send; a second attempt of a task writes beside the first. So rows could be missing or
 * there twice, be readable too early, or stay in a transaction for ever.
 */
class ClusterTest extends SparkTest {
    /** More than the data source keeps while a transaction begins. */
    private static final int EVENTS = 6000;
    /** In the midst of the second task's rows. */
    private static final String MIDST = "event-4500";
    private static final long LEASE_MS = 10_000;
    private static final Duration UNTIL_EXPIRED = Duration.ofMillis(LEASE_MS).plusSeconds(20);
    private static final Duration UNTIL_ABORTED = Duration.ofMillis(LEASE_MS / 2);
    private static final long LIMIT_SECONDS = 100;

    enum Kind { BATCH, STREAMING }

    /** What happens to the first attempt of a task before it writes an event. */
    private interface Fault extends Serializable {
        void before(String event) throws Exception;
    }

    @TempDir
    Path folder;

    private Cluster cluster;
    private String target;

    @BeforeEach
    void makeRoomForACluster() {
        target = stream(NEEDS_TRANSACTIONS);
        spark().stop();
    }

    @AfterEach
    void end() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void anExecutorIsKilledInTheMidstOfItsTask(Kind kind) throws Exception {
        cluster = Cluster.local();
        File executor = file("executor");
        File never = file("never");
        CompletableFuture<Void> write = write(kind, event -> {
            if (event.equals(MIDST)) {
                tell(executor, ProcessHandle.current().pid());
                await(never::exists);
            }
        });
        await(() -> executor.exists() || write.isDone());
        assertEquals(0, readableBytes());
        assertFalse(OpenTransactions.on(target).isEmpty());

        kill(executor);
        assertWrittenOnce(write, UNTIL_EXPIRED);
    }

    /**
     * Spark does not repeat a task that has told its result: its transaction must outlive the executor, and several of
     * its leases while the other task goes on.
     */
    @ParameterizedTest
    @EnumSource
    void anExecutorIsKilledAfterItsTask(Kind kind) throws Exception {
        cluster = Cluster.local();
        File executor = file("executor");
        File killed = file("killed");
        CompletableFuture<Void> write = write(kind, event -> {
            if (event.equals("event-0")) {
                tell(executor, ProcessHandle.current().pid());
            } else if (event.equals(MIDST)) {
                await(killed::exists);
            }
        });
        await(() -> executor.exists() && tasksDone() == 1 || write.isDone());
        kill(executor).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        Thread.sleep(3 * LEASE_MS);
        assertEquals(0, readableBytes());
        tell(killed, 1);

        assertWrittenOnce(write, UNTIL_ABORTED);
    }

    /** It waits for its executors, which have a task slot each. */
    @Test
    void aRealTimeQueryRunsOnExecutors() throws Exception {
        String source = stream(2);
        cluster = Cluster.local();
        try (Feed feed = new Feed(source); Arrivals arrivals = new Arrivals(target)) {
            StreamingQuery query =
                    RealTimeDriver.copy(spark(), source, target, folder.resolve("checkpoint").toString(), 2000).start();
            feed.send(100, 5000);
            arrivals.await(feed.sent(), Duration.ofSeconds(LIMIT_SECONDS));
            query.stop();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTaskFailsAfterHalfOfItsRows(Kind kind) throws Exception {
        cluster = Cluster.local();
        assertWrittenOnce(write(kind, event -> {
            if (event.equals(MIDST)) {
                throw new IllegalStateException("half of the rows");
            }
        }), UNTIL_ABORTED);
    }

    /** The write ends although the first attempt does not: a second one has taken its place. */
    @ParameterizedTest
    @EnumSource
    void aSlowTaskIsSpeculated(Kind kind) throws Exception {
        cluster = Cluster.speculating();
        File never = file("never");
        assertWrittenOnce(write(kind, event -> {
            if (event.equals(MIDST)) {
                await(never::exists);
            }
        }), UNTIL_ABORTED);
    }

    /** Begins to write all events into the target, by two tasks. */
    private CompletableFuture<Void> write(Kind kind, Fault fault) throws Exception {
        spark().udf().register("struck", (String event) -> {
            if (TaskContext.get().attemptNumber() == 0) {
                fault.before(event);
            }
            return event;
        }, DataTypes.StringType);
        Dataset<Row> events = spark().range(0, EVENTS, 1, 2).selectExpr("concat('event-', id) AS event");
        if (kind == Kind.BATCH) {
            return inBackground(() -> {
                writer(events.selectExpr("struck(event) AS event"), target)
                        .option("transaction_timeout_ms", LEASE_MS).save();
                return null;
            });
        }
        String source = stream(2);
        writer(events.selectExpr("event", "if(int(substring(event, 7)) < " + EVENTS / 2 + ", '" + keyBelowHalf(true)
                + "', '" + keyBelowHalf(false) + "') AS routing_key"), source).save();
        StreamingQuery query = copy(readStream(source).load().selectExpr("struck(string(event)) AS event"),
                target, folder.resolve("checkpoint")).option("transaction_timeout_ms", LEASE_MS).start();
        return inBackground(() -> {
            query.processAllAvailable();
            query.stop();
            return null;
        });
    }

    /** A routing key of the first or of the second of two segments: so each task has the events it has in a batch. */
    private static String keyBelowHalf(boolean below) {
        HashHelper hash = HashHelper.seededWith("EventRouter");
        return IntStream.range(0, 100).mapToObj(Integer::toString)
                .filter(key -> hash.hashToRange(key) < 0.5 == below).findFirst().orElseThrow();
    }

    /** @param limit how long a transaction may stay open that no task ends */
    private void assertWrittenOnce(CompletableFuture<Void> write, Duration limit) throws Exception {
        write.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        assertEquals(range(0, EVENTS), numbers(target));
        OpenTransactions.assertNoneRemains(target, limit);
    }

    private static CompletableFuture<Void> inBackground(Callable<Void> task) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return task.call();
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        });
    }

    private long readableBytes() {
        return streams().fetchStreamInfo(SCOPE, target).join().getTailStreamCut().asImpl().getPositions().values()
                .stream().mapToLong(Long::longValue).sum();
    }

    private static int tasksDone() {
        SparkStatusTracker tracker = spark().sparkContext().statusTracker();
        return Arrays.stream(tracker.getActiveStageIds())
                .map(stage -> tracker.getStageInfo(stage).get().numCompletedTasks()).sum();
    }

    private File file(String name) {
        return folder.resolve(name).toFile();
    }

    private static CompletableFuture<ProcessHandle> kill(File executor) throws IOException {
        ProcessHandle process = ProcessHandle.of(Long.parseLong(Files.readString(executor.toPath()))).orElseThrow();
        assertTrue(process.destroyForcibly());
        return process.onExit();
    }

    /** The file is there with all that it holds, or not at all. */
    private static void tell(File file, long value) throws IOException {
        Path written = Files.writeString(Path.of(file + ".new"), Long.toString(value));
        Files.move(written, file.toPath(), StandardCopyOption.ATOMIC_MOVE);
    }

    private static void await(Callable<Boolean> condition) throws Exception {
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.call()) {
            if (System.nanoTime() > limit) {
                throw new IllegalStateException("waited for " + LIMIT_SECONDS + " s in vain");
            }
            Thread.sleep(20);
        }
    }
}
