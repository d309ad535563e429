// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import io.pravega.client.ClientConfig;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.Transaction;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the open transactions of this JVM from expiring, from their beginning until they are committed or aborted.
 *
 * <p>On an executor until one lease after the task: then the driver has heard of the transaction and keeps it itself,
 * until the write is over, or was cancelled before and nobody needs the transaction. Who ends one may be in another
 * JVM; then the next ping tells that it is over.
 */
public final class TransactionLeases implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TransactionLeases.class);
    /** As many pings fit into a lease: after so many failures it has expired. */
    private static final int PINGS_PER_LEASE = 3;
    /** A task that is told to end, and begins a transaction all the same, does so before. */
    private static final long REMEMBERED_SECONDS = 600;

    private final Controller controller;
    private final ScheduledExecutorService timer;
    private final LeaseLimit limit;
    private final Map<UUID, Lease> kept = new ConcurrentHashMap<>();
    /** Failed writes, of which a task may still run. */
    private final Set<UUID> ended = ConcurrentHashMap.newKeySet();

    TransactionLeases(ClientConfig config, Controller controller, ScheduledExecutorService timer) {
        this.controller = controller;
        this.timer = timer;
        limit = new LeaseLimit(config, timer);
    }

    public LeaseLimit limit() {
        return limit;
    }

    /**
     * Until it is ended or, after {@link #written}, for one lease more.
     *
     * @param write the attempt to write a batch or an epoch, to which the transaction belongs
     */
    public void keep(UUID write, Stream stream, UUID transaction, long leaseMs) {
        kept.computeIfAbsent(transaction, id -> new Lease(write, stream, id, leaseMs)).written = false;
        if (ended.contains(write)) {
            end(transaction);
        }
    }

    /** The task is done with the transaction. */
    public void written(UUID transaction) {
        Lease lease = kept.get(transaction);
        if (lease != null) {
            lease.writtenAt = System.nanoTime();
            lease.written = true;
        }
    }

    public void end(UUID transaction) {
        Lease lease = kept.remove(transaction);
        if (lease != null) {
            lease.pings.cancel(false);
        }
    }

    /** The write has failed: what it began, or begins yet, may expire. */
    public void endAll(UUID write) {
        if (ended.add(write)) {
            timer.schedule(() -> ended.remove(write), REMEMBERED_SECONDS, TimeUnit.SECONDS);
        }
        kept.values().stream().filter(lease -> lease.write.equals(write)).map(lease -> lease.transaction).toList()
                .forEach(this::end);
    }

    public boolean any() {
        return !kept.isEmpty();
    }

    @Override
    public void close() {
        kept.keySet().forEach(this::end);
    }

    private final class Lease {
        private final UUID write;
        private final Stream stream;
        private final UUID transaction;
        private final long leaseMs;
        private final ScheduledFuture<?> pings;
        private volatile boolean written;
        private volatile long writtenAt;
        private volatile int failures;

        Lease(UUID write, Stream stream, UUID transaction, long leaseMs) {
            this.write = write;
            this.stream = stream;
            this.transaction = transaction;
            this.leaseMs = leaseMs;
            long interval = leaseMs / PINGS_PER_LEASE;
            pings = timer.scheduleAtFixedRate(this::ping, interval, interval, TimeUnit.MILLISECONDS);
        }

        private void ping() {
            if (written && System.nanoTime() - writtenAt > TimeUnit.MILLISECONDS.toNanos(leaseMs)) {
                end(transaction);
            } else {
                controller.pingTransaction(stream, transaction, leaseMs).whenComplete(this::answered);
            }
        }

        private void answered(Transaction.PingStatus status, Throwable failure) {
            failures = failure == null ? 0 : failures + 1;
            if (status == Transaction.PingStatus.COMMITTED || status == Transaction.PingStatus.ABORTED) {
                end(transaction);
            } else if (failures >= PINGS_PER_LEASE) {
                LOG.warn("Transaction {} on {} was not kept alive", transaction, stream.getScopedName(), failure);
                end(transaction);
            }
        }
    }
}
