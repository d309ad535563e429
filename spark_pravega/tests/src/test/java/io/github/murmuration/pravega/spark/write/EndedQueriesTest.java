// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.LiveObjects;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What queries and reads leave in a JVM that goes on with others. */
class EndedQueriesTest extends SparkTest {
    private static final String FLOW = "io.pravega.client.connection.impl.RawClient";
    private static final int MANY = 20;
    /** Above the 30 s after which what is not used is closed. */
    private static final Duration IDLE = Duration.ofSeconds(50);

    @TempDir
    Path folder;

    @Test
    void whatHasEndedLeavesNoFlowOpen() throws Exception {
        String source = stream(1);
        append(source, 0, 5);
        try (Connections.Lease inUse = Connections.lease(connection())) {
            copySmallEpoch(source, 0);
            int flows = LiveObjects.count(FLOW);
            for (int query = 1; query <= MANY; query++) {
                copySmallEpoch(source, query);
            }
            long end = System.nanoTime() + IDLE.toNanos();
            while (LiveObjects.count(FLOW) > flows) {
                assertTrue(System.nanoTime() < end, () -> flows + " flows, then " + LiveObjects.count(FLOW));
                Thread.sleep(1000);
            }
        }
    }

    private void copySmallEpoch(String source, int query) throws Exception {
        String target = stream(1);
        StreamingQuery copy = copyWithoutKeys(readStream(source).load().select("event"), target,
                folder.resolve("query-" + query)).trigger(Trigger.AvailableNow()).start();
        copy.awaitTermination();
        assertEquals(range(0, 5), numbers(target));
    }
}
