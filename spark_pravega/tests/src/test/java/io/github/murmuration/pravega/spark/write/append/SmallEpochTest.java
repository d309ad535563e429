// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.LoggedSteps;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.write.epoch.EpochStep;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Epochs that are written by one append, and the change between them and those in transactions. */
class SmallEpochTest extends SparkTest {
    private static final List<EpochStep> APPENDED = List.of(EpochStep.WRITTEN, EpochStep.APPENDED);
    private static final List<EpochStep> IN_TRANSACTIONS =
            List.of(EpochStep.WRITTEN, EpochStep.RECORDED, EpochStep.COMMITTED);

    @TempDir
    Path checkpoint;

    private final List<EpochStep> steps = new CopyOnWriteArrayList<>();
    private LoggedSteps log;
    private String source;
    private String target;

    @BeforeEach
    void observe() {
        log = new LoggedSteps((step, record) -> steps.add(step));
        source = stream(1);
        target = stream(1);
    }

    @AfterEach
    void observeNoMore() {
        log.close();
    }

    @Test
    @Tag("core")
    void anEpochIsAppendedOnceThoughItComesAgain() throws Exception {
        copyMore(0, 30);
        forgetLastEpoch();
        copyMore(30, 40);
        assertEquals(range(0, 40), numbers(target));
        assertTrue(steps.stream().allMatch(APPENDED::contains), steps::toString);
    }

    @Test
    void anotherWriterMayAppendMeanwhile() throws Exception {
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        for (int from = 0; from < 40; from += 20) {
            append(source, from, from + 10);
            query.processAllAvailable();
            append(target, from + 10, from + 20);
        }
        query.stop();
        assertEquals(range(0, 40), numbers(target));
        assertEquals(APPENDED, steps.subList(0, 2));
    }

    @Test
    @Tag("core")
    void anEpochThatComesAgainIsRecognisedAfterItsSegmentWasSplit() throws Exception {
        copyMore(0, 30);
        split();
        forgetLastEpoch();
        copyMore(30, 40);
        assertEquals(range(0, 40), numbers(target));
    }

    /** The epoch that finds the segment sealed goes in a transaction, those after it to its successors. */
    @Test
    @Tag("core")
    void aQueryGoesOnWhenTheSegmentIsSplit() throws Exception {
        StreamingQuery query = copy(readStream(source).load(), target, checkpoint).start();
        append(source, 0, 20);
        query.processAllAvailable();
        split();
        append(source, 20, 40);
        query.processAllAvailable();
        append(source, 40, 50);
        query.processAllAvailable();
        query.stop();
        assertEquals(range(0, 50), numbers(target));
        assertTrue(steps.contains(EpochStep.RECORDED), steps::toString);
        assertEquals(APPENDED, steps.subList(steps.size() - 2, steps.size()));
    }

    @Test
    void epochsWithoutKeysGoToOneSegmentAfterTheOther() throws Exception {
        target = stream(3);
        for (int from = 0; from < 40; from += 10) {
            append(source, from, from + 10);
            copyWithoutKeys();
        }
        forgetLastEpoch();
        append(source, 40, 50);
        copyWithoutKeys();
        assertEquals(range(0, 50), numbers(target));
        assertTrue(steps.stream().allMatch(APPENDED::contains), steps::toString);
        assertEquals(List.of(10L, 20L, 20L),
                read(target).groupBy("segment_id").count().select("count").as(Encoders.LONG()).collectAsList()
                        .stream().sorted().toList());
    }

    @Test
    void epochsWithoutKeysGoOnWhenASegmentIsSplit() throws Exception {
        target = stream(2);
        append(source, 0, 10);
        copyWithoutKeys();
        scale(target, List.of(0L), Map.of(0.0, 0.25, 0.25, 0.5));
        forgetLastEpoch();
        for (int from = 10; from < 40; from += 10) {
            append(source, from, from + 10);
            copyWithoutKeys();
        }
        assertEquals(range(0, 40), numbers(target));
        assertEquals(APPENDED, steps.subList(steps.size() - 2, steps.size()));
    }

    @Test
    void asMuchAsGoesOverTheWireAtOnceIsAppended() throws Exception {
        append(source, 20, 29);
        copyLargeFromTwenty();
        assertEquals(range(20, 29), numbers(read(target).selectExpr("trim(string(event)) AS event")));
        assertEquals(APPENDED, steps);
    }

    @Test
    void appendsAndTransactionsFollowEachOther() throws Exception {
        for (int from : List.of(10, 20, 100)) {
            append(source, from, from + 10);
            copyLargeFromTwenty();
        }
        forgetLastEpoch();
        append(source, 30, 40);
        copyLargeFromTwenty();

        assertEquals(both(range(10, 40), range(100, 110)),
                numbers(read(target).selectExpr("trim(string(event)) AS event")));
        assertEquals(APPENDED, steps.subList(0, 2));
        assertEquals(IN_TRANSACTIONS, steps.subList(2, 5));
        assertEquals(APPENDED, steps.subList(5, 7));
    }

    /** Events from 20 to 99 are so large that nine fit into one append, but not ten. */
    private void copyLargeFromTwenty() throws Exception {
        int length = KeptEvents.MAX_BYTES / 10;
        copyAll(readStream(source).load().selectExpr(
                "rpad(string(event), if(string(event) < 'event-2', 20, " + length + "), ' ') AS event"));
    }

    private void copyMore(int from, int until) throws Exception {
        append(source, from, until);
        copyAll(readStream(source).load());
    }

    private void copyAll(Dataset<Row> events) throws Exception {
        run(copy(events, target, checkpoint));
    }

    private void copyWithoutKeys() throws Exception {
        run(copyWithoutKeys(readStream(source).load().select("event"), target, checkpoint));
    }

    /** As if the driver had died before Spark logged the last epoch. */
    private void forgetLastEpoch() throws Exception {
        Path commits = checkpoint.resolve("commits");
        int last = (int) Files.list(commits).filter(file -> file.getFileName().toString().matches("\\d+")).count() - 1;
        Files.delete(commits.resolve(Integer.toString(last)));
        Files.deleteIfExists(commits.resolve("." + last + ".crc"));
    }

    private void split() throws Exception {
        scale(target, List.of(0L), Map.of(0.0, 0.5, 0.5, 1.0));
    }
}
