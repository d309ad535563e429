// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pulsar.spark.testing.SparkTest;
import io.github.murmuration.pulsar.spark.testing.TestPulsar;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events that a query was to read are gone. */
@Tag("core")
class DataLossTest extends SparkTest {
    @TempDir
    Path folder;
    private String source;
    private String target;

    @BeforeEach
    void copyTheFirst() throws Exception {
        source = pulsar().stream(2);
        target = pulsar().stream(1);
        pulsar().publish(source, 0, 0, 10, 5);
        pulsar().publish(source, 1, 10, 20, 5);
        run(query(true));
        assertEquals(range(0, 20), numbers(target));
    }

    private DataStreamWriter<Row> query(boolean fails) {
        return copy(readStream(source).option("fail_on_data_loss", Boolean.toString(fails)).load(), target, folder);
    }

    /** Two unread entries of the first ledger, then the third ledger alone is left. */
    @Test
    void truncatedLedgersAreMissed() throws Exception {
        pulsar().publish(source, 1, 20, 30, 5);
        pulsar().roll(source, 1);
        pulsar().publish(source, 1, 30, 40, 5);
        pulsar().truncate(source, 1);
        String words = assertRefused(() -> run(query(true)), "PULSAR_DATA_LOSS: in " + TestPulsar.topic(source, 1));
        assertTrue(words.contains("at least 1 entries"), words);
        run(query(false));
        List<Integer> numbers = numbers(target);
        assertEquals(range(0, 20), numbers.subList(0, 20));
        assertEquals(range(30, 40), numbers.subList(20, numbers.size()));
    }

    @Test
    void whatWasCutIsMissedAndCounted() throws Exception {
        pulsar().publish(source, 1, 20, 40, 5);
        pulsar().note(source, "cut.1", Long.toString(5 << 12));
        assertRefused(() -> run(query(true)), "found " + (5 << 12) + ": 3 entries");
        run(query(false));
        List<Integer> numbers = numbers(target);
        assertEquals(range(35, 40), numbers.subList(20, numbers.size()));
    }

    /** What a query has read to its end may be removed. */
    @Test
    void whatWasReadIsNotMissed() throws Exception {
        StreamingQuery query = query(true).start();
        try {
            settle(query);
            pulsar().roll(source, 1);
            pulsar().publish(source, 1, 20, 25, 5);
            settle(query);
            pulsar().truncate(source, 1);
            pulsar().publish(source, 1, 25, 30, 5);
            settle(query);
        } finally {
            query.stop();
        }
        assertEquals(range(0, 30), numbers(target));
    }

    /** Between the plan and the read: two entries of the first ledger are gone, the second one is left. */
    @Test
    void whatIsRemovedBeforeATaskReadsItIsMissed() {
        String stream = pulsar().stream(1);
        RDD<InternalRow> failing = planned(stream, true);
        RDD<InternalRow> going = planned(stream, false);
        pulsar().truncate(stream, 0);
        assertRefused(failing::count, ": 2 entries (published batches of events) are gone");
        assertEquals(5, going.count());
    }

    /** There is nothing behind what is gone: no event comes that would tell. */
    @Test
    void whatIsRemovedToItsEndIsMissed() {
        String stream = pulsar().stream(1);
        RDD<InternalRow> failing = planned(stream, true);
        RDD<InternalRow> going = planned(stream, false);
        pulsar().roll(stream, 0);
        pulsar().publish(stream, 0, null, new byte[1]);
        pulsar().roll(stream, 0);
        pulsar().truncate(stream, 0);
        assertRefused(failing::count, ": 3 entries (published batches of events) are gone");
        assertEquals(0, going.count());
    }

    /** A read of two ledgers, of two entries and of one, whose partitions are told; filled the first time. */
    private RDD<InternalRow> planned(String stream, boolean fails) {
        if (read(stream).count() == 0) {
            pulsar().publish(stream, 0, 0, 10, 5);
            pulsar().roll(stream, 0);
            pulsar().publish(stream, 0, 10, 15, 5);
        }
        RDD<InternalRow> rows = spark().read().format("pulsar").options(where()).option("stream", stream)
                .option("fail_on_data_loss", Boolean.toString(fails)).load().queryExecution().toRdd();
        assertEquals(1, rows.partitions().length);
        return rows;
    }

    /** An idle query does not look for new events all the time. */
    private static void settle(StreamingQuery query) throws Exception {
        Thread.sleep(200);
        query.processAllAvailable();
    }

    @Test
    void aStreamThatWasCreatedAnewIsNoticed() throws Exception {
        pulsar().delete(source);
        pulsar().create(source, 2);
        pulsar().publish(source, 0, 100, 105, 5);
        assertRefused(() -> run(query(true)), source + " was deleted and created anew");
        run(query(false));
        List<Integer> numbers = numbers(target);
        assertEquals(range(100, 105), numbers.subList(20, numbers.size()));
    }

    /** Its offsets look like those of the old one. */
    @Test
    void aStreamThatWasCreatedAnewAndHasGrownBeyondIsNoticed() throws Exception {
        pulsar().delete(source);
        pulsar().create(source, 2);
        pulsar().publish(source, 0, 100, 130, 5);
        pulsar().publish(source, 1, 130, 160, 5);
        assertRefused(() -> run(query(true)), source + " was deleted and created anew");
        run(query(false));
        List<Integer> numbers = numbers(target);
        assertEquals(range(100, 160), numbers.subList(20, numbers.size()));
    }

    /** The batch was planned, and not done. */
    @Test
    void aStreamThatIsCreatedAnewInTheMiddleIsNoticed() throws Exception {
        Files.delete(folder.resolve("commits/0"));
        Files.deleteIfExists(folder.resolve("commits/.0.crc"));
        pulsar().delete(source);
        pulsar().create(source, 2);
        pulsar().publish(source, 0, 100, 130, 5);
        assertRefused(() -> run(query(true)), source + " was deleted and created anew");
        run(query(false));
        List<Integer> numbers = numbers(target);
        assertEquals(range(100, 130), numbers.subList(20, numbers.size()));
    }

    @Test
    void aPartitionThatIsGoneIsNoticed() throws Exception {
        pulsar().delete(source);
        pulsar().create(source, 1);
        assertRefused(() -> run(query(true)), "PULSAR_DATA_LOSS: in ");
    }
}
