// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.nats.spark.testing.SparkTest;
import io.github.murmuration.nats.spark.testing.TestNats;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Row;
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
        source = nats().stream(2);
        target = nats().stream(1);
        nats().publish(source, 0, 0, 10);
        nats().publish(source, 1, 10, 20);
        run(query(true));
        assertEquals(range(0, 20), numbers(target));
    }

    private DataStreamWriter<Row> query(boolean fails) {
        return copy(readStream(source).option("fail_on_data_loss", Boolean.toString(fails)).load(), target, folder);
    }

    @Test
    void purgedEventsAreMissed() throws Exception {
        nats().publish(source, 1, 20, 40);
        nats().purge(source, 1, 16);
        String words = assertRefused(() -> run(query(true)), "NATS_DATA_LOSS");
        assertTrue(words.contains(
                "in " + TestNats.jetStream(source, 1) + " wanted sequence 11, found 16: 5 events are"), words);
        run(query(false));
        List<Integer> numbers = numbers(target);
        assertEquals(range(0, 20), numbers.subList(0, 20));
        assertEquals(range(25, 40), numbers.subList(20, numbers.size()));
    }

    @Test
    void evictedEventsAreMissed() throws Exception {
        source = nats().stream(1, 20_000);
        run(copy(readStream(source).load(), target, folder.resolve("bounded")));
        nats().publish(source, 0, 0, 2000);
        long first = nats().state(source, 0).getFirstSequence();
        assertTrue(first > 1);
        assertRefused(() -> run(copy(readStream(source).load(), target, folder.resolve("bounded"))),
                "wanted sequence 1, found " + first + ": " + (first - 1) + " events are gone");
    }

    @Test
    void aGapInTheMiddleIsMissed() throws Exception {
        nats().publish(source, 0, 20, 30);
        nats().deleteMessage(source, 0, 14);
        nats().deleteMessage(source, 0, 15);
        assertRefused(() -> run(query(true)), "wanted sequence 14, found 16: 2 events are gone");
        run(query(false));
        assertEquals(28, numbers(target).size());
    }

    @Test
    void aGapAtTheEndIsMissed() throws Exception {
        nats().publish(source, 0, 20, 30);
        nats().deleteMessage(source, 0, 20);
        assertRefused(() -> run(query(true)), "wanted sequence 20, found 21: 1 events are gone");
    }

    @Test
    void allThatWasLeftIsMissed() throws Exception {
        nats().publish(source, 0, 20, 30);
        nats().purge(source, 0, 21);
        assertRefused(() -> run(query(true)), "wanted sequence 11, found 21: 10 events are gone");
    }

    @Test
    void aStreamThatWasCreatedAnewIsNoticed() throws Exception {
        nats().delete(source, 0);
        nats().delete(source, 1);
        nats().create(source, 2, -1);
        nats().publish(source, 0, 100, 105);
        assertRefused(() -> run(query(true)), source + " was deleted and created anew");
        run(query(false));
        List<Integer> numbers = numbers(target);
        assertEquals(range(100, 105), numbers.subList(20, numbers.size()));
        nats().publish(source, 1, 105, 107);
        run(query(true));
        assertEquals(27, numbers(target).size());
    }

    /** Its sequences look like those of the old one. */
    @Test
    void aStreamThatWasCreatedAnewAndHasGrownBeyondIsNoticed() throws Exception {
        nats().delete(source, 0);
        nats().delete(source, 1);
        nats().create(source, 2, -1);
        nats().publish(source, 0, 100, 130);
        nats().publish(source, 1, 130, 160);
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
        nats().delete(source, 0);
        nats().delete(source, 1);
        nats().create(source, 2, -1);
        nats().publish(source, 0, 100, 130);
        nats().publish(source, 1, 130, 160);
        assertRefused(() -> run(query(true)), source + " was deleted and created anew");
        run(query(false).option("exactly_once", "false")); // other tasks than before are an unknown epoch
        List<Integer> numbers = numbers(target);
        assertEquals(range(100, 160), numbers.subList(20, numbers.size()));
    }

    @Test
    void aStreamThatWasCreatedAnewWithFewerPartitionsIsReadOn() throws Exception {
        nats().delete(source, 0);
        nats().delete(source, 1);
        nats().create(source, 1, -1);
        nats().publish(source, 0, 100, 105);
        assertRefused(() -> run(query(true)), source + " was deleted and created anew");
        run(query(false));
        nats().publish(source, 0, 105, 110);
        run(query(true));
        List<Integer> numbers = numbers(target);
        assertEquals(range(100, 110), numbers.subList(20, numbers.size()));
    }

    @Test
    void withoutTheFirstPartitionTheOthersAreNotReadAgain() throws Exception {
        StreamingQuery query = query(false).start();
        try {
            query.processAllAvailable();
            nats().delete(source, 0);
            nats().publish(source, 1, 20, 25);
            Thread.sleep(200); // an idle query does not look for new events all the time
            query.processAllAvailable();
        } finally {
            query.stop();
        }
        assertEquals(range(0, 25), numbers(target));
    }

    @Test
    void aPartitionThatWasCreatedAnewIsNoticed() throws Exception {
        nats().delete(source, 1);
        nats().create(source, 2, -1);
        nats().publish(source, 1, 100, 105);
        assertRefused(() -> run(query(true)), "found the stream's end at 6: at least 5 events are gone");
    }

    @Test
    void aPartitionThatIsGoneIsNoticed() throws Exception {
        nats().delete(source, 1);
        assertRefused(() -> run(query(true)),
                TestNats.jetStream(source, 1) + " wanted sequence 11, found no such stream");
    }
}
