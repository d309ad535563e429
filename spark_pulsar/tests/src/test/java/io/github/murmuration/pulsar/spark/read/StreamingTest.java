// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import static io.github.murmuration.pulsar.spark.testing.PulsarStore.pulsar;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pulsar.spark.testing.PulsarStore;
import io.github.murmuration.spark.testing.StreamingContract;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Streaming queries from one stream to another. */
@Tag("core")
class StreamingTest extends StreamingContract {
    StreamingTest() {
        super(PulsarStore.STORE);
    }

    /** Entries of equal size make the estimate exact. */
    @Test
    void aLimitIsSharedInProportion() throws Exception {
        String source = pulsar().stream(3);
        pulsar().publish(source, 0, 0, 700, 10);
        pulsar().publish(source, 1, 700, 1000, 10);
        assertEquals(Collections.nCopies(10, 100L), rows(source, 100));
        StreamingQueryProgress first = progress(source, 100, folder.resolve("again"))[0];
        assertTrue(first.sources()[0].endOffset().endsWith("\"next\":[" + (7 << 12) + "," + (3 << 12) + ",0]}"));
        assertEquals("90", first.sources()[0].metrics().get("lagEntries"));
    }

    /** An entry is read as a whole, of each partition that has one. */
    @Test
    void aSmallLimitReadsAnEntry() throws Exception {
        String source = pulsar().stream(2);
        pulsar().publish(source, 0, 0, 150, 50);
        pulsar().publish(source, 1, 150, 155, 5);
        assertEquals(List.of(55L, 50L, 50L), rows(source, 1));
    }

    /** Batches of 1 and of 100: what one holds is estimated, and all is read once. */
    @Test
    void aLimitOverUnequalEntriesIsAbout() throws Exception {
        String source = pulsar().stream(1);
        for (int step = 0; step < 10; step++) {
            pulsar().publish(source, 0, step * 110, step * 110 + 10, 1);
            pulsar().publish(source, 0, step * 110 + 10, step * 110 + 110, 100);
        }
        pulsar().roll(source, 0);
        pulsar().publish(source, 0, 1100, 1200, 100);
        List<Long> rows = rows(source, 300);
        assertEquals(1200, rows.stream().mapToLong(each -> each).sum());
        assertTrue(rows.size() > 1 && rows.stream().allMatch(each -> each <= 900), rows::toString);
        assertEquals(range(0, 1200), numbers(source));
    }

    private List<Long> rows(String source, int limit) throws Exception {
        return Arrays.stream(progress(source, limit, folder)).map(StreamingQueryProgress::numInputRows)
                .filter(each -> each > 0).toList();
    }

    private StreamingQueryProgress[] progress(String source, int limit, Path checkpoint) throws Exception {
        StreamingQuery query = readStream(source).option("max_events_per_trigger", Integer.toString(limit)).load()
                .writeStream().format("noop").trigger(Trigger.AvailableNow())
                .option("checkpointLocation", checkpoint.toString()).start();
        query.awaitTermination();
        return query.recentProgress();
    }

    @Test
    void ledgersThatFollowEachOtherAreReadThrough() throws Exception {
        String source = pulsar().stream(1);
        String target = pulsar().stream(1);
        for (int step = 0; step < 3; step++) {
            pulsar().publish(source, 0, step * 20, step * 20 + 20, 5);
            pulsar().roll(source, 0);
        }
        run(copy(readStream(source).option("max_events_per_trigger", "10").load(), target, folder));
        pulsar().roll(source, 0);
        pulsar().publish(source, 0, 60, 70, 5);
        run(copy(readStream(source).load(), target, folder));
        assertEquals(range(0, 70), numbers(target));
    }

    /** The client connects anew each time, and may hand out events again, or leave some out. */
    @Test
    void aTopicThatMovesIsReadThrough() throws Exception {
        String source = pulsar().stream(1);
        String target = pulsar().stream(1);
        pulsar().publish(source, 0, 0, 20_000, 2);
        StreamingQuery query = copy(readStream(source).option("max_events_per_trigger", "4000").load(), target, folder)
                .start();
        try {
            for (int move = 0; move < 5; move++) {
                Thread.sleep(300);
                pulsar().roll(source, 0);
                pulsar().publish(source, 0, 20_000 + move * 10, 20_010 + move * 10, 2);
            }
            settle(query);
        } finally {
            query.stop();
        }
        assertEquals(range(0, 20_050), numbers(target));
    }

    /** Spark repeats a batch that it has not noted as done. */
    @Test
    void aRepeatedBatchReadsTheSameAndIsWrittenAgain() throws Exception {
        String source = pulsar().stream(2);
        String target = pulsar().stream(2);
        append(source, 0, 200);
        run(copy(readStream(source).load(), target, folder));
        append(source, 200, 250);
        undoTheFirstBatch(folder);
        run(copy(readStream(source).load(), target, folder));
        assertEquals(450, numbers(target).size());
        assertEquals(range(0, 250), numbers(target).stream().distinct().toList());
    }

    @Test
    void newPartitionsAreRead() throws Exception {
        String source = pulsar().stream(1);
        String target = pulsar().stream(1);
        append(source, 0, 100);
        run(copy(readStream(source).load(), target, folder));
        pulsar().add(source, 1, 3);
        append(source, 100, 300);
        run(copy(readStream(source).load(), target, folder));
        assertEquals(range(0, 300), numbers(target));
        assertEquals(3, read(source).select("partition").distinct().count());
    }
}
