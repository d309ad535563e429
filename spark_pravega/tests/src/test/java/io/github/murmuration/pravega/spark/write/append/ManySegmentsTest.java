// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.pravega.client.ClientConfig;
import io.pravega.client.EventStreamClientFactory;
import io.pravega.client.stream.EventStreamWriter;
import io.pravega.client.stream.EventWriterConfig;
import io.pravega.client.stream.impl.UTF8StringSerializer;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Small epochs into more segments than there are connections, and into one where somebody else writes all the time. */
class ManySegmentsTest extends SparkTest {
    private static final long LIMIT_SECONDS = 60;
    private static final int ROWS_PER_EPOCH = 100;

    @TempDir
    Path checkpoint;

    @ParameterizedTest
    @ValueSource(ints = {12, 24})
    void epochsGoToAsManySegmentsAsThereAre(int segments) throws Exception {
        String target = stream(segments);
        int epochs = 3 * segments;
        runEpochs(target, epochs);
        Map<Long, List<Long>> bySegment = new HashMap<>();
        spark().read().format("pravega").option("controller", DurablePravega.controllerUri()).option("scope", SCOPE)
                .option("stream", target).load().selectExpr("segment_id", "bigint(string(event))")
                .collectAsList().forEach(row ->
                        bySegment.computeIfAbsent(row.getLong(0), segment -> new ArrayList<>()).add(row.getLong(1)));
        assertEquals(segments, bySegment.size());
        bySegment.values().forEach(values -> assertTrue(values.size() % ROWS_PER_EPOCH == 0, values::toString));
    }

    /** The segment's end, as a reader sees it, is never where the next append will go. */
    @Test
    void someoneElseWritesToTheSegmentAllTheTime() throws Exception {
        String target = stream(1);
        try (BusyWriter busy = new BusyWriter(target)) {
            runEpochs(target, 20);
            assertTrue(busy.written() > 0);
        }
    }

    private void runEpochs(String target, int epochs) throws Exception {
        StreamingQuery query = copyWithoutKeys(spark().readStream().format("rate-micro-batch")
                .option("rowsPerBatch", ROWS_PER_EPOCH).option("numPartitions", 2).load()
                .selectExpr("string(value) AS event"), target, checkpoint).start();
        try {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
            while (query.lastProgress() == null || query.lastProgress().batchId() < epochs) {
                if (query.exception().isDefined() || System.nanoTime() > end) {
                    throw new TimeoutException(
                            "after " + LIMIT_SECONDS + " s: " + query.lastProgress() + query.exception());
                }
                Thread.sleep(50);
            }
        } finally {
            query.stop();
        }
        List<Long> found = texts(read(target)).stream().filter(text -> !text.equals(BusyWriter.EVENT))
                .map(Long::valueOf).sorted().toList();
        assertEquals(found.stream().distinct().toList(), found);
        assertEquals(found.size() - 1, found.get(found.size() - 1));
        assertTrue(found.size() >= epochs * ROWS_PER_EPOCH);
    }

    /** Has several appends under way at any time. */
    private static final class BusyWriter implements AutoCloseable {
        static final String EVENT = "somebody else's";

        private final EventStreamClientFactory factory = EventStreamClientFactory.withScope(SCOPE,
                ClientConfig.builder().controllerURI(URI.create(DurablePravega.controllerUri())).build());
        private final EventStreamWriter<String> writer;
        private final Semaphore outstanding = new Semaphore(64);
        private final Thread thread = new Thread(this::write, "busy-writer");
        private volatile boolean stopped;
        private volatile long written;

        BusyWriter(String stream) {
            writer = factory.createEventWriter(stream, new UTF8StringSerializer(), EventWriterConfig.builder().build());
            thread.start();
        }

        long written() {
            return written;
        }

        private void write() {
            while (!stopped) {
                outstanding.acquireUninterruptibly();
                writer.writeEvent(EVENT).whenComplete((done, failed) -> outstanding.release());
                written++;
            }
        }

        @Override
        public void close() throws Exception {
            stopped = true;
            thread.join();
            writer.close();
            factory.close();
        }
    }
}
