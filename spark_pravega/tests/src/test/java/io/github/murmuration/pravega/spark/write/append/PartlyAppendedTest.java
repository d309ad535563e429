// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.github.murmuration.pravega.spark.testing.LoggedSteps;
import io.github.murmuration.pravega.spark.testing.OpenTransactions;
import io.github.murmuration.pravega.spark.write.epoch.EpochStep;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.StreamConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A driver dies when two of four segments have their part of a keyed epoch, and the epoch comes again. */
class PartlyAppendedTest extends KeyedCopy {
    private static final int BYTES = 100_000;

    /** What becomes of the stream while nobody runs the query. */
    private enum Change {
        /** The first two segments have their part, the third has not. */
        SPLIT_ONE_WITH, SPLIT_ONE_WITHOUT, REPLACE_BOTH, SCALES_BY_ITSELF
    }

    private final List<EpochStep> steps = new CopyOnWriteArrayList<>();

    @BeforeEach
    void appendAPart() throws Exception {
        target = stream(4);
        copyMore(0, 40);
        append(source, 40, 80);
        Predicate<String> others = FailedAppends.isOneOf(2, 3);
        try (FailedAppends dying = new FailedAppends(
                (epoch, segment) -> epoch == 1 && others.test(segment) && onceTheOthersAreAppended())) {
            StreamingQuery failing = copy(BYTES, true).start();
            assertThrows(StreamingQueryException.class, failing::processAllAvailable);
        }
        int there = numbersOfTarget().size();
        assertTrue(there > 40 && there < 80, () -> "is there: " + there);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void inTheSameWayItIsCompletedByAppends(boolean otherJvm) throws Exception {
        repeat(otherJvm ? fromAnotherJvm(copy(BYTES, true)) : copy(BYTES, true));
        assertEquals(List.of(EpochStep.WRITTEN, EpochStep.APPENDED), steps);
        goOn();
    }

    @ParameterizedTest
    @EnumSource(Change.class)
    void afterTheStreamHasChangedTheRestGoesInATransaction(Change change) throws Exception {
        change(change);
        repeat(fromAnotherJvm(copy(BYTES, true)));
        assertTrue(steps.contains(EpochStep.RECORDED), steps::toString);
        goOn();
    }

    /** One of many tasks has all rows, more than its share. */
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void howeverManyTasksThereAre(boolean scales) throws Exception {
        if (scales) {
            change(Change.SPLIT_ONE_WITHOUT);
        }
        Dataset<Row> rows = rows(readStream(source).load(), BYTES, true).repartition(40, functions.lit(1));
        repeat(fromAnotherJvm(copy(rows)));
        assertEquals(scales, steps.contains(EpochStep.RECORDED), steps::toString);
        assertEquals(range(0, 80), numbersOfTarget());
    }

    /** The rest is recorded and expires; then the epoch comes for the third time. */
    @Test
    void theRestIsWrittenAgainIfItExpires() throws Exception {
        change(Change.SPLIT_ONE_WITHOUT);
        try (LoggedSteps log = new LoggedSteps((step, record) -> {
            if (step == EpochStep.RECORDED) {
                record.transactions().forEach(PartlyAppendedTest::expire);
                throw new IllegalStateException("the driver dies");
            }
        })) {
            StreamingQuery failing = fromAnotherJvm(copy(BYTES, true)).start();
            assertThrows(StreamingQueryException.class, failing::processAllAvailable);
        }
        run(copy(BYTES, true));
        goOn();
    }

    /** Tasks with rows for two streams keep none; tasks with rows for one of two keep rows that went nowhere before. */
    @ParameterizedTest
    @CsvSource({"write, false", "skip, false", "write, true", "skip, true"})
    void whereTheDriverHasNotJustTheRowsItFailsAndNamesTheWayOut(String wayOut, boolean byStream) throws Exception {
        String other = stream(1);
        int there = numbersOfTarget().size();
        Dataset<Row> rows = rows(readStream(source).load(), BYTES, true).withColumn("stream", functions.expr(
                "if(int(substring(event, 7)) % 2 = 0, '" + target + "', '" + other + "')"));
        Dataset<Row> tasks = byStream ? rows.repartition(8, rows.col("stream")) : rows;
        DataStreamWriter<Row> query = tasks.writeStream().format("pravega").option("scope", SCOPE)
                .option("checkpointLocation", checkpoint.toString());
        StreamingQuery failing = fromAnotherJvm(query).start();
        StreamingQueryException failure = assertThrows(StreamingQueryException.class, failing::processAllAvailable);
        assertTrue(failure.getMessage().contains("on_unknown_epoch=write"), failure::getMessage);
        OpenTransactions.assertNoneRemains(target, Duration.ofSeconds(5));
        run(fromAnotherJvm(query).option("on_unknown_epoch", wayOut));
        int after = numbersOfTarget().size() + numbers(read(other).selectExpr("trim(string(event)) AS event")).size();
        assertEquals(wayOut.equals("write") ? there + 40 : there, after);
        copyMore(80, 100);
        assertEquals(range(80, 100), numbersOfTarget().stream().filter(number -> number >= 80).toList());
    }

    /** What the third segment was to get; the fourth is there and has not its part. */
    @ParameterizedTest
    @ValueSource(strings = {"write", "skip"})
    void whatASegmentHeldThatIsGoneCannotBeKnown(String wayOut) throws Exception {
        int missing = 80 - numbersOfTarget().size();
        change(Change.SPLIT_ONE_WITHOUT);
        streams().truncateStream(SCOPE, target, streams().fetchStreamInfo(SCOPE, target).join().getTailStreamCut());
        StreamingQuery failing = fromAnotherJvm(copy(BYTES, true)).start();
        StreamingQueryException failure = assertThrows(StreamingQueryException.class, failing::processAllAvailable);
        assertTrue(failure.getMessage().contains("on_unknown_epoch=write"), failure::getMessage);
        run(fromAnotherJvm(copy(BYTES, true)).option("on_unknown_epoch", wayOut));
        int written = numbersOfTarget().size();
        assertTrue(wayOut.equals("write") ? written == missing : written > 0 && written < missing,
                () -> written + " of " + missing);
    }

    private static boolean onceTheOthersAreAppended() {
        Waiting.sleep(1, TimeUnit.SECONDS);
        return true;
    }

    private void repeat(DataStreamWriter<Row> query) throws Exception {
        try (LoggedSteps log = new LoggedSteps((step, record) -> steps.add(step))) {
            run(query);
        }
        OpenTransactions.assertNoneRemains(target, Duration.ofSeconds(5));
    }

    private void goOn() throws Exception {
        assertEquals(range(0, 80), numbersOfTarget());
        copyMore(80, 120);
        copyMore(120, 160);
        assertEquals(range(0, 160), numbersOfTarget());
        assertEquals(ofEachKey(source), ofEachKey(target));
    }

    private void change(Change change) throws Exception {
        switch (change) {
            case SPLIT_ONE_WITH -> scale(target, List.of(0L), Map.of(0.0, 0.125, 0.125, 0.25));
            case SPLIT_ONE_WITHOUT -> scale(target, List.of(2L), Map.of(0.5, 0.625, 0.625, 0.75));
            case REPLACE_BOTH -> scale(target, List.of(1L, 2L), Map.of(0.25, 0.4, 0.4, 0.6, 0.6, 0.75));
            case SCALES_BY_ITSELF -> streams().updateStream(SCOPE, target, StreamConfiguration.builder()
                    .scalingPolicy(ScalingPolicy.byEventRate(1_000_000, 2, 4)).build());
        }
    }

    private static void expire(TransactionId transaction) {
        try (Connections.Lease lease = Connections.lease(connection())) {
            lease.connection().controller().abortTransaction(transaction.target(), transaction.id()).join();
        }
    }
}
