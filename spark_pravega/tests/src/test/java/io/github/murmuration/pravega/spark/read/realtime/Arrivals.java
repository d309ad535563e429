// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.pravega.client.segment.impl.EventSegmentReader;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The events of a {@link Feed} as they arrive in a stream of a fixed number of segments, read without Spark. */
public final class Arrivals implements AutoCloseable {
    /** @param due by {@link System#nanoTime}, as {@code at} */
    record Arrival(int number, long due, long at) {
        long micros() {
            return (at - due) / 1000;
        }
    }

    private final Connections.Lease lease = Connections.lease(SparkTest.connection());
    private final Queue<Arrival> arrivals = new ConcurrentLinkedQueue<>();
    private final List<Thread> readers = new ArrayList<>();
    private volatile boolean closed;

    public Arrivals(String stream) {
        Set<Segment> segments =
                lease.connection().metadata().tail(Stream.of(SparkTest.SCOPE, stream)).asImpl().getPositions().keySet();
        for (Segment segment : segments) {
            Thread reader = new Thread(() -> read(segment), "arrivals");
            reader.start();
            readers.add(reader);
        }
    }

    List<Arrival> soFar() {
        return new ArrayList<>(arrivals);
    }

    /** Waits for the events 0 to {@code until - 1}. */
    public void await(int until, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        while (numbers().size() < until && System.nanoTime() < end) {
            Waiting.sleep(50, TimeUnit.MILLISECONDS);
        }
        Set<Integer> missing = new HashSet<>(SparkTest.range(0, until));
        missing.removeAll(numbers());
        assertEquals(Set.of(), missing);
    }

    /** Each event once, those of one key in order. */
    void assertOnceAndInOrder() {
        assertEquals(numbers().size(), arrivals.size());
        assertInOrder();
    }

    /** Those of one key in order, if what is repeated counts as it first arrived. */
    void assertInOrder() {
        Map<Integer, Integer> last = new HashMap<>();
        Set<Integer> seen = new HashSet<>();
        for (Arrival arrival : arrivals) {
            if (seen.add(arrival.number())) {
                Integer before = last.put(arrival.number() % Feed.KEYS, arrival.number());
                assertTrue(before == null || before < arrival.number(), () -> before + " before " + arrival);
            }
        }
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        for (Thread reader : readers) {
            reader.join();
        }
        lease.close();
    }

    private Set<Integer> numbers() {
        return arrivals.stream().map(Arrival::number).collect(Collectors.toSet());
    }

    private void read(Segment segment) {
        try (EventSegmentReader events = lease.connection().inputs()
                .createEventReaderForSegment(segment, 0, Long.MAX_VALUE)) {
            while (!closed) {
                ByteBuffer event = events.read(100);
                if (event != null) {
                    long now = System.nanoTime();
                    String[] parts = new String(event.array(), StandardCharsets.UTF_8).split(" ");
                    arrivals.add(new Arrival(Integer.parseInt(parts[0]), Long.parseLong(parts[1]), now));
                }
            }
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }
}
