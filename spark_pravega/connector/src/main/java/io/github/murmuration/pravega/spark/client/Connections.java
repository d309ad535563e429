// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import io.github.murmuration.pravega.spark.PravegaOptions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The connections of this JVM, one per cluster.
 *
 * <p>Whoever uses one leases it. Spark tells neither executors nor sinks when a query ends, so a connection is closed
 * when it was unused for a while and keeps no transaction alive.
 */
public final class Connections {
    private static final long IDLE_SECONDS = 30;
    private static final Map<List<String>, Connections> OPEN = new HashMap<>();
    private static final ScheduledExecutorService CLOSER = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "pravega-connections");
        thread.setDaemon(true);
        return thread;
    });

    private final List<String> cluster;
    private final PravegaConnection connection;
    private int leases;
    private long usedAt;

    private Connections(PravegaOptions options) {
        cluster = options.cluster();
        connection = new PravegaConnection(options.clientConfig());
    }

    /** A use of the connection; closing it ends the use, not the connection. */
    public static Lease lease(PravegaOptions options) {
        synchronized (OPEN) {
            Connections shared = OPEN.computeIfAbsent(options.cluster(), ignored -> new Connections(options));
            shared.leases++;
            return new Lease(shared);
        }
    }

    private void release() {
        synchronized (OPEN) {
            leases--;
            usedAt = System.nanoTime();
        }
        CLOSER.schedule(this::closeIfIdle, IDLE_SECONDS + 1, TimeUnit.SECONDS);
    }

    private void closeIfIdle() {
        synchronized (OPEN) {
            boolean idle = leases == 0 && System.nanoTime() - usedAt >= TimeUnit.SECONDS.toNanos(IDLE_SECONDS);
            if (!idle || OPEN.get(cluster) != this) {
                return;
            }
            if (connection.leases().any()) {
                CLOSER.schedule(this::closeIfIdle, IDLE_SECONDS, TimeUnit.SECONDS);
                return;
            }
            OPEN.remove(cluster);
        }
        connection.close();
    }

    /** One use of a connection. */
    public static final class Lease implements AutoCloseable {
        private final Connections shared;
        private boolean closed;

        private Lease(Connections shared) {
            this.shared = shared;
        }

        public PravegaConnection connection() {
            return shared.connection;
        }

        @Override
        public synchronized void close() {
            if (!closed) {
                closed = true;
                shared.release();
            }
        }
    }
}
