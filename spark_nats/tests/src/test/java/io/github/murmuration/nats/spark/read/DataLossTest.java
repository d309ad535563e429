// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import static io.github.murmuration.nats.spark.testing.NatsStore.nats;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.nats.spark.testing.NatsStore;
import io.github.murmuration.nats.spark.testing.TestNats;
import io.github.murmuration.spark.testing.DataLossContract;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Events that a query was to read are gone. */
@Tag("core")
class DataLossTest extends DataLossContract {
    DataLossTest() {
        super(NatsStore.STORE);
    }

    @Test
    void purgedEventsAreMissed() throws Exception {
        nats().publish(source, 1, 20, 40);
        nats().purge(source, 1, 16);
        String words = assertRefused(() -> run(query(true)), "NATS_DATA_LOSS");
        assertTrue(words.contains(
                "in " + TestNats.jetStream(source, 1) + " wanted sequence 11, found 16: 5 events are"), words);
        run(query(false));
        assertEquals(range(25, 40), copiedSince());
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
    void withoutTheFirstPartitionTheOthersAreNotReadAgain() throws Exception {
        StreamingQuery query = query(false).start();
        try {
            query.processAllAvailable();
            nats().delete(source, 0);
            nats().publish(source, 1, 20, 25);
            settle(query);
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
