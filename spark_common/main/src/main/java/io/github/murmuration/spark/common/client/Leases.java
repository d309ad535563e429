// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.client;

import java.util.HashMap;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.function.Function;

/**
 * Connections of this JVM, one for each address, shared by all that hold a lease of it.
 *
 * @param <A> address
 * @param <C> connection
 */
public final class Leases<A, C extends Leases.Connection> {
    /** Tasks come in quick succession: a connection outlives the last lease by so much. */
    private static final long LINGER_MS = 20_000;

    private final Map<A, Shared<C>> open = new HashMap<>();
    private final Function<A, C> opener;
    private final Timer closer;

    /** @param name of the thread that closes them */
    public Leases(String name, Function<A, C> opener) {
        this.opener = opener;
        closer = new Timer(name, true);
    }

    /** What is shared. */
    public interface Connection {
        boolean isClosed();

        void close();
    }

    private static final class Shared<C> {
        final C connection;
        int leases;
        long uses;

        Shared(C connection) {
            this.connection = connection;
        }
    }

    /**
     * The right to use a connection until it is closed.
     *
     * @param <C> connection
     */
    public static final class Lease<C> implements AutoCloseable {
        private final C connection;
        private final Runnable release;
        private boolean closed;

        private Lease(C connection, Runnable release) {
            this.connection = connection;
            this.release = release;
        }

        public C connection() {
            return connection;
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                release.run();
            }
        }
    }

    public Lease<C> lease(A address) {
        synchronized (open) {
            Shared<C> found = open.get(address);
            if (found == null || found.connection.isClosed()) {
                found = new Shared<>(opener.apply(address));
                open.put(address, found);
            }
            Shared<C> shared = found;
            shared.leases++;
            shared.uses++;
            return new Lease<>(shared.connection, () -> release(address, shared));
        }
    }

    private void release(A address, Shared<C> shared) {
        synchronized (open) {
            shared.leases--;
            if (shared.leases == 0) {
                closeLater(address, shared, shared.uses);
            }
        }
    }

    private void closeLater(A address, Shared<C> shared, long uses) {
        closer.schedule(new TimerTask() {
            @Override
            public void run() {
                synchronized (open) {
                    if (shared.leases == 0 && shared.uses == uses) {
                        open.remove(address, shared);
                        shared.connection.close();
                    }
                }
            }
        }, LINGER_MS);
    }
}
