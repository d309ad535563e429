// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.upgrade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.OpenTransactions;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.spark.testing.DriverProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A query that an earlier data source has begun goes on under today's, exactly once: what a checkpoint, a record and a
 * segment hold of it is still understood.
 */
class UpgradeTest extends SparkTest {
    private static final int OLD_EPOCHS = 6;
    private static final int EPOCHS = 14;
    private static final int EVENTS = EPOCHS * UpgradedQuery.EVENTS_PER_EPOCH;
    private static final String NOWHERE = "nowhere";
    private static final Duration RUN_LIMIT = Duration.ofSeconds(120);
    private static final Duration UNTIL_EXPIRED = Duration.ofSeconds(50);

    @TempDir
    Path folder;

    private String source;
    private String target;

    @Test
    void aQueryThatWasStopped() throws Exception {
        begin(2);
        List<String> steps = runOld(true, NOWHERE, 0);
        for (int epoch = 0; epoch < OLD_EPOCHS; epoch++) {
            assertEquals(epoch % 2 == 1, reached(steps, "RECORDED", epoch), steps::toString);
            assertTrue(reached(steps, "COMMITTED", epoch), steps::toString);
        }
        goOn(true);
    }

    @Test
    void aQueryThatWasKilledBetweenRecordAndCommit() throws Exception {
        begin(2);
        List<String> steps = runOld(true, UpgradedQuery.step("RECORDED", 3), DriverProcess.KILLED);
        assertTrue(reached(steps, "RECORDED", 1) && !reached(steps, "COMMITTED", 3), steps::toString);
        goOn(true);
    }

    /** In its second round over the segments: each has the number of an earlier epoch. */
    @Test
    void aQueryThatWasKilledBetweenAppendAndLog() throws Exception {
        begin(3);
        List<String> steps = runOld(false, UpgradedQuery.step("COMMITTED", 4), DriverProcess.KILLED);
        assertTrue(steps.stream().noneMatch(line -> line.startsWith("RECORDED")), steps::toString);
        goOn(false);
    }

    private void begin(int segments) {
        source = stream(1);
        target = stream(segments);
        appendEpochs(0, OLD_EPOCHS);
    }

    /** @return what it has printed, its steps among that */
    private List<String> runOld(boolean keys, String last, int status) throws Exception {
        Path log = folder.resolve("old.log");
        try (DriverProcess driver = new DriverProcess(log, OldConnector.classPath(), UpgradedQuery.class,
                source, target, keys, folder.resolve("checkpoint"), last)) {
            assertEquals(status, driver.ended(RUN_LIMIT), () -> lines(driver));
            return driver.log();
        }
    }

    private void goOn(boolean keys) throws Exception {
        appendEpochs(OLD_EPOCHS, EPOCHS);
        UpgradedQuery.run(spark(), source, target, keys, folder.resolve("checkpoint"));
        assertEquals(range(0, EVENTS), numbers(target));
        if (keys) {
            assertEquals(ofEachKey(source), ofEachKey(target));
        }
        OpenTransactions.assertNoneRemains(target, UNTIL_EXPIRED);
    }

    /** One after the other, so that the events of each are together. */
    private void appendEpochs(int from, int until) {
        for (int epoch = from; epoch < until; epoch++) {
            append(source, epoch * UpgradedQuery.EVENTS_PER_EPOCH, (epoch + 1) * UpgradedQuery.EVENTS_PER_EPOCH);
        }
    }

    /** Events with keys, in their order. */
    private static Map<String, List<String>> ofEachKey(String stream) {
        return read(stream).orderBy("segment_id", "offset").selectExpr("string(event)").collectAsList().stream()
                .map((Row row) -> row.getString(0))
                .filter(event -> number(event) / UpgradedQuery.EVENTS_PER_EPOCH % 2 == 1)
                .collect(Collectors.groupingBy(event -> event.substring(event.length() - 1)));
    }

    private static int number(String event) {
        return Integer.parseInt(event.substring("event-".length()));
    }

    private static boolean reached(List<String> steps, String step, int epoch) {
        return steps.stream().anyMatch(line -> line.startsWith(UpgradedQuery.step(step, epoch)));
    }

    private static String lines(DriverProcess driver) {
        try {
            return String.join("\n", driver.log());
        } catch (IOException missing) {
            return missing.toString();
        }
    }
}
