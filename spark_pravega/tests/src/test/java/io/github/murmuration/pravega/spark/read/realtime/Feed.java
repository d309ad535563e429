// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.pravega.client.stream.EventStreamWriter;
import io.pravega.client.stream.Stream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Writes events into a stream without Spark, whose task slots a real-time query needs: {@code number time}, with the
 * time at which the event was due by {@link System#nanoTime}, and one of {@value #KEYS} keys in turn.
 */
public final class Feed implements AutoCloseable {
    static final int KEYS = 16;

    private final Connections.Lease lease = Connections.lease(SparkTest.connection());
    private final EventStreamWriter<byte[]> writer;
    private int sent;

    public Feed(String stream) {
        writer = lease.connection().eventWriter(Stream.of(SparkTest.SCOPE, stream));
    }

    /** Returns when they are durable. */
    public void send(int events) {
        for (int number = 0; number < events; number++) {
            send(System.nanoTime());
        }
        writer.flush();
    }

    /** Sends at a constant rate, whatever is late. */
    public void send(int perSecond, long millis) {
        long start = System.nanoTime();
        long events = perSecond * millis / 1000;
        for (long number = 0; number < events; number++) {
            long due = start + number * TimeUnit.SECONDS.toNanos(1) / perSecond;
            while (System.nanoTime() < due) {
                LockSupport.parkNanos(due - System.nanoTime());
            }
            send(due);
        }
    }

    public int sent() {
        return sent;
    }

    @Override
    public void close() {
        writer.close();
        lease.close();
    }

    private void send(long due) {
        writer.writeEvent(Integer.toString(sent % KEYS), (sent + " " + due).getBytes());
        sent++;
    }
}
