// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.pravega.client.ClientConfig;
import io.pravega.client.EventStreamClientFactory;
import io.pravega.client.stream.EventStreamWriter;
import io.pravega.client.stream.EventWriterConfig;
import io.pravega.client.stream.impl.StreamSegments;
import io.pravega.client.stream.impl.UTF8StringSerializer;
import java.net.URI;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Someone else who writes into every segment of a stream, without a pause: an event goes out as soon as one before is
 * acknowledged, so that in each segment an append is always under way.
 */
final class SteadyWriter implements AutoCloseable {
    private final EventStreamClientFactory client;
    private final EventStreamWriter<String> writer;
    /** A key for each event that may go out now. */
    private final BlockingQueue<String> free = new LinkedBlockingQueue<>();
    private final Thread thread = new Thread(this::write, "steady-writer");
    private volatile Throwable failure;
    private volatile boolean ended;
    private long written;

    /** @param underWay how many events in each segment; none, if nobody is to write beside */
    SteadyWriter(String stream, int underWay) {
        client = EventStreamClientFactory.withScope(DurablePravega.SCOPE, ClientConfig.builder()
                .controllerURI(URI.create(DurablePravega.controllerUri())).build());
        writer = client.createEventWriter(stream, new UTF8StringSerializer(), EventWriterConfig.builder().build());
        for (String key : oneKeyForEachSegment(stream)) {
            for (int event = 0; event < underWay; event++) {
                free.add(key);
            }
        }
        thread.setDaemon(true);
        thread.start();
    }

    /** Ends it; how many events it has written, which are numbered from 0 on. */
    long end() throws InterruptedException {
        close();
        if (failure != null) {
            throw new IllegalStateException("the writer beside has failed", failure);
        }
        return written;
    }

    @Override
    public void close() throws InterruptedException {
        if (!ended) {
            ended = true;
            thread.join();
            writer.close();
            client.close();
        }
    }

    private void write() {
        try {
            while (!ended && failure == null) {
                String key = free.poll(100, TimeUnit.MILLISECONDS);
                if (key != null) {
                    writer.writeEvent(key, StreamContents.BESIDE + "" + written++).whenComplete((done, failed) -> {
                        failure = failed == null ? failure : failed;
                        free.add(key);
                    });
                }
            }
        } catch (InterruptedException | RuntimeException failed) {
            failure = failed;
        }
    }

    private static Set<String> oneKeyForEachSegment(String stream) {
        try (Connections.Lease lease = Connections.lease(SparkTest.connection())) {
            StreamSegments segments =
                    lease.connection().controller().getCurrentSegments(DurablePravega.SCOPE, stream).join();
            Set<Long> reached = new TreeSet<>();
            Set<String> keys = new TreeSet<>();
            for (int number = 0; reached.size() < segments.getNumberOfSegments(); number++) {
                if (reached.add(segments.getSegmentForKey("beside-" + number).getSegmentId())) {
                    keys.add("beside-" + number);
                }
            }
            return keys;
        }
    }
}
