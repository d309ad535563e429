// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import java.util.HashMap;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;

/** Connections of this JVM, one for each pair of addresses, shared by all that hold a lease of it. */
public final class Connections {
    /** Tasks come in quick succession: a connection outlives the last lease by so much. */
    private static final long LINGER_MS = 20_000;

    private static final Map<Addresses, Shared> OPEN = new HashMap<>();
    private static final Timer CLOSER = new Timer("pulsar-connections", true);

    private Connections() {
    }

    private record Addresses(String service, String administration) {
    }

    private static final class Shared {
        final Connection connection;
        int leases;
        long uses;

        Shared(Connection connection) {
            this.connection = connection;
        }
    }

    /** The right to use a connection until it is closed. */
    public static final class Lease implements AutoCloseable {
        private final Addresses addresses;
        private final Shared shared;
        private boolean closed;

        private Lease(Addresses addresses, Shared shared) {
            this.addresses = addresses;
            this.shared = shared;
        }

        public Connection connection() {
            return shared.connection;
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                release(addresses, shared);
            }
        }
    }

    public static Lease lease(PulsarOptions options) {
        Addresses addresses = new Addresses(options.serviceUrl(), options.adminUrl());
        synchronized (OPEN) {
            Shared shared = OPEN.get(addresses);
            if (shared == null || shared.connection.isClosed()) {
                shared = new Shared(Connection.open(addresses.service, addresses.administration));
                OPEN.put(addresses, shared);
            }
            shared.leases++;
            shared.uses++;
            return new Lease(addresses, shared);
        }
    }

    private static void release(Addresses addresses, Shared shared) {
        synchronized (OPEN) {
            shared.leases--;
            if (shared.leases == 0) {
                closeLater(addresses, shared, shared.uses);
            }
        }
    }

    private static void closeLater(Addresses addresses, Shared shared, long uses) {
        CLOSER.schedule(new TimerTask() {
            @Override
            public void run() {
                synchronized (OPEN) {
                    if (shared.leases == 0 && shared.uses == uses) {
                        OPEN.remove(addresses, shared);
                        shared.connection.close();
                    }
                }
            }
        }, LINGER_MS);
    }
}
