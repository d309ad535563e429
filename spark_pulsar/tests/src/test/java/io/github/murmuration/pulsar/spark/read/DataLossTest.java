// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import static io.github.murmuration.pulsar.spark.testing.PulsarStore.pulsar;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pulsar.spark.testing.PulsarStore;
import io.github.murmuration.pulsar.spark.testing.TestPulsar;
import io.github.murmuration.spark.testing.DataLossContract;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Events that a query was to read are gone. */
@Tag("core")
class DataLossTest extends DataLossContract {
    DataLossTest() {
        super(PulsarStore.STORE);
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
        assertEquals(range(30, 40), copiedSince());
    }

    @Test
    void whatWasCutIsMissedAndCounted() throws Exception {
        pulsar().publish(source, 1, 20, 40, 5);
        pulsar().note(source, "cut.1", Long.toString(5 << 12));
        assertRefused(() -> run(query(true)), "found " + (5 << 12) + ": 3 entries");
        run(query(false));
        assertEquals(range(35, 40), copiedSince());
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
        RDD<InternalRow> rows = spark().read().format("pulsar").options(store().where()).option("stream", stream)
                .option("fail_on_data_loss", Boolean.toString(fails)).load().queryExecution().toRdd();
        assertEquals(1, rows.partitions().length);
        return rows;
    }

    @Test
    void aPartitionThatIsGoneIsNoticed() throws Exception {
        pulsar().delete(source, 1);
        String words = assertRefused(() -> run(query(true)), "PULSAR_DATA_LOSS: in " + TestPulsar.topic(source, 1));
        assertTrue(words.contains("found no such topic"), words);
    }
}
