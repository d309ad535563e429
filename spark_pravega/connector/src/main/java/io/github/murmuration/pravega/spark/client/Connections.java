// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import io.github.murmuration.pravega.spark.PravegaOptions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of this JVM, one per cluster.
 *
 * <p>Whoever uses one leases it. Spark tells neither executors nor sinks when a query ends, so a connection is closed
 * when it was unused for a while and keeps no transaction alive; and so is, before, what one query has left open in it.
 */
public final class Connections {
    private static final Logger LOG = LoggerFactory.getLogger(Connections.class);
    private static final long LOOK_SECONDS = 5;
    private static final Map<List<String>, Connections> OPEN = new HashMap<>();
    private static final ScheduledExecutorService CLOSER = closer();

    private final List<String> cluster;
    private final PravegaConnection connection;
    private final ScheduledFuture<?> looks;
    private final LastUse use = new LastUse();
    private int leases;

    private Connections(PravegaOptions options) {
        cluster = options.cluster();
        connection = new PravegaConnection(options.clientConfig());
        looks = CLOSER.scheduleWithFixedDelay(this::closeUnused, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
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
            use.now();
        }
    }

    /** A failure must not end the looks. */
    private void closeUnused() {
        try {
            if (!isOver()) {
                connection.closeUnused();
                return;
            }
            looks.cancel(false);
            connection.close();
        } catch (RuntimeException failed) {
            LOG.info("Something of the connection to {} was not closed", cluster.get(0), failed);
        }
    }

    /** Then nobody can lease it any more. */
    private boolean isOver() {
        synchronized (OPEN) {
            boolean over = leases == 0 && use.isLongAgo() && !connection.leases().any();
            return over && OPEN.remove(cluster, this);
        }
    }

    /** Its thread ends with the last connection. */
    private static ScheduledExecutorService closer() {
        ScheduledThreadPoolExecutor closer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "pravega-connections");
            thread.setDaemon(true);
            return thread;
        });
        closer.setKeepAliveTime(1, TimeUnit.SECONDS);
        closer.allowCoreThreadTimeOut(true);
        return closer;
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
