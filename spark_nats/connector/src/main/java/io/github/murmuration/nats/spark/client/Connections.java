// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import java.util.HashMap;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;

/** Connections of this JVM, one for each list of servers, shared by all that hold a lease of it. */
public final class Connections {
    /** Tasks come in quick succession: a connection outlives the last lease by so much. */
    private static final long LINGER_MS = 20_000;

    private static final Map<String, Shared> OPEN = new HashMap<>();
    private static final Timer CLOSER = new Timer("nats-connections", true);

    private Connections() {
    }

    private static final class Shared {
        final NatsConnection connection;
        int leases;
        long uses;

        Shared(NatsConnection connection) {
            this.connection = connection;
        }
    }

    /** The right to use a connection until it is closed. */
    public static final class Lease implements AutoCloseable {
        private final String servers;
        private final NatsConnection connection;
        private boolean closed;

        private Lease(String servers, NatsConnection connection) {
            this.servers = servers;
            this.connection = connection;
        }

        public NatsConnection connection() {
            return connection;
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                release(servers);
            }
        }
    }

    /** @throws io.github.murmuration.nats.spark.NatsException if no server answers */
    public static Lease lease(String servers) {
        synchronized (OPEN) {
            Shared shared = OPEN.get(servers);
            if (shared == null || shared.connection.isClosed()) {
                shared = new Shared(NatsConnection.open(servers));
                OPEN.put(servers, shared);
            }
            shared.leases++;
            shared.uses++;
            return new Lease(servers, shared.connection);
        }
    }

    private static void release(String servers) {
        synchronized (OPEN) {
            Shared shared = OPEN.get(servers);
            shared.leases--;
            if (shared.leases == 0) {
                closeLater(servers, shared, shared.uses);
            }
        }
    }

    private static void closeLater(String servers, Shared shared, long uses) {
        CLOSER.schedule(new TimerTask() {
            @Override
            public void run() {
                synchronized (OPEN) {
                    if (shared.leases == 0 && shared.uses == uses && OPEN.remove(servers, shared)) {
                        shared.connection.close();
                    }
                }
            }
        }, LINGER_MS);
    }
}
