// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import static io.github.murmuration.pulsar.spark.testing.PulsarStore.pulsar;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pulsar.spark.testing.PulsarStore;
import io.github.murmuration.spark.testing.BatchContract;
import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Batches that are written and read. */
@Tag("core")
class BatchTest extends BatchContract {
    BatchTest() {
        super(PulsarStore.STORE);
    }

    /** The event's number in its entry is in the lower twelve bits. */
    @Test
    void offsetsCountEntriesAndEventsInThem() {
        String stream = pulsar().stream(1);
        pulsar().publish(stream, 0, 0, 3, 2);
        assertEquals(List.of(0L, 1L, 1L << 12), read(stream).select("offset").orderBy("offset").as(Encoders.LONG())
                .collectAsList());
    }

    @Test
    void whatPulsarCannotTakeIsRefused() {
        String stream = pulsar().stream(1);
        assertRefused(() -> read("no-such-stream").count(), "there is no stream murmur/");
        assertRefused(() -> read("no such").count(), "letters, digits and");
        assertRefused(() -> writer(events(stream, 0, 1), stream).option("exactly_once", "true").save(),
                "writes at least once");
        assertRefused(() -> writer(spark().range(1).selectExpr("repeat('x', 9000000) AS event"), stream).save(),
                "Pulsar did not take an event of ");
        assertRefused(() -> writer(events(stream, 0, 1).withColumn("event", functions.lit(null).cast("string")),
                stream).save(), "the column event is null");
    }

    /** As where the broker was restarted before there was any event. */
    @Test
    void eventsBehindALedgerWithoutAnyAreRead() {
        String stream = pulsar().stream(1);
        pulsar().roll(stream, 0);
        pulsar().publish(stream, 0, 0, 20, 5);
        assertEquals(range(0, 20), numbers(stream));
    }

    @Test
    void longKeysAreKeptInBatchesThatTheBrokerTakes() {
        String stream = pulsar().stream(1);
        writer(spark().range(0, 600, 1, 1).selectExpr("concat(repeat('k', 20000), id) AS key",
                "concat('event-', id) AS event"), stream).save();
        assertEquals(range(0, 600), numbers(stream));
        assertEquals(600, read(stream).select("key").distinct().count());
    }
}
