// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import static io.github.murmuration.nats.spark.testing.NatsStore.nats;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.nats.spark.testing.NatsStore;
import io.github.murmuration.spark.testing.StreamingContract;
import java.util.ArrayList;
import java.util.Arrays;
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
        super(NatsStore.STORE);
    }

    @Test
    void newPartitionsAreRead() throws Exception {
        String source = nats().stream(1);
        String target = nats().stream(1);
        append(source, 0, 100);
        StreamingQuery query = copy(readStream(source).load(), target, folder).start();
        try {
            query.processAllAvailable();
            nats().create(source, 3, -1);
            append(source, 100, 300);
            Thread.sleep(2500); // it looks for them every two seconds
            query.processAllAvailable();
            assertEquals(range(0, 300), numbers(target));
        } finally {
            query.stop();
        }
        nats().create(source, 4, -1);
        append(source, 300, 400);
        run(copy(readStream(source).load(), target, folder));
        assertEquals(range(0, 400), numbers(target));
        assertEquals(4, read(source).select("partition").distinct().count());
    }

    @Test
    void aLimitIsExactAndSharedInProportion() throws Exception {
        String source = nats().stream(3);
        nats().publish(source, 0, 0, 700);
        nats().publish(source, 1, 700, 1000);
        StreamingQuery query = readStream(source).option("max_events_per_trigger", "100").load()
                .writeStream().format("noop").trigger(Trigger.AvailableNow())
                .option("checkpointLocation", folder.toString()).start();
        query.awaitTermination();
        List<Long> rows = new ArrayList<>();
        for (StreamingQueryProgress progress : query.recentProgress()) {
            rows.add(progress.numInputRows());
        }
        assertEquals(List.of(100L, 100L, 100L, 100L, 100L, 100L, 100L, 100L, 100L, 100L), rows.subList(0, 10));
        assertTrue(query.recentProgress()[0].sources()[0].endOffset().endsWith("\"next\":[71,31,1]}"));
        assertEquals("900", query.recentProgress()[0].sources()[0].metrics().get("lagEvents"));
    }

    @Test
    void availableNowReadsAsManyAtATimeAsItMay() throws Exception {
        String source = nats().stream(2);
        append(source, 0, 300);
        StreamingQuery query = readStream(source).option("max_events_per_trigger", "70").load()
                .writeStream().format("noop").trigger(Trigger.AvailableNow())
                .option("checkpointLocation", folder.toString()).start();
        query.awaitTermination();
        assertEquals(5, Arrays.stream(query.recentProgress()).filter(each -> each.numInputRows() > 0).count());
    }
}
