// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import io.github.murmuration.pravega.shaded.io.grpc.Status;
import io.github.murmuration.pravega.shaded.io.grpc.StatusRuntimeException;
import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.github.murmuration.pravega.spark.write.epoch.UnknownEpoch;
import io.pravega.client.stream.PingFailedException;
import io.pravega.client.stream.Transaction;
import io.pravega.client.stream.TxnFailedException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends transactions that tasks have written, many at a time. */
public final class Transactions {
    private static final Logger LOG = LoggerFactory.getLogger(Transactions.class);
    private static final long EAGER_POLL_MS = 5;
    private static final int EAGER_POLLS = 40;
    private static final long LONG_COMMIT_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final PravegaConnection connection;
    private final PravegaOptions options;
    private final long timeoutMs;

    public Transactions(PravegaConnection connection, PravegaOptions options, long timeoutMs) {
        this.connection = connection;
        this.options = options;
        this.timeoutMs = timeoutMs;
    }

    /**
     * Renews every lease in full.
     *
     * @throws PravegaException if one is not open any more, or cannot be renewed
     */
    public void renew(Collection<TransactionId> transactions) {
        List<CompletableFuture<Transaction.PingStatus>> pings = transactions.stream()
                .map(each -> connection.controller().pingTransaction(each.target(), each.id(), timeoutMs)).toList();
        int index = 0;
        for (TransactionId transaction : transactions) {
            try {
                if (Waiting.on(pings.get(index++)) == Transaction.PingStatus.OPEN) {
                    continue;
                }
            } catch (PravegaException failed) {
                throw failed.getCause() instanceof PingFailedException refused
                        ? new PravegaException(transaction + " was not renewed: " + refused.getMessage(), failed)
                        : failed;
            } catch (StatusRuntimeException failed) {
                throw failed.getStatus().getCode() == Status.Code.NOT_FOUND ? notOpen(transaction, failed) : failed;
            }
            throw notOpen(transaction, null);
        }
    }

    /**
     * Commits all. Returns when their events can be read, or, without read_after_write_consistency, when nothing can
     * undo them any more.
     *
     * @throws PravegaException if one had expired or was aborted
     */
    public void commit(Collection<TransactionId> transactions) {
        Map<TransactionId, CompletableFuture<Void>> commits = new LinkedHashMap<>();
        for (TransactionId transaction : transactions) {
            connection.leases().end(transaction.id());
            commits.put(transaction, connection.controller()
                    .commitTransaction(transaction.target(), "spark", null, transaction.id()));
        }
        commits.forEach((transaction, commit) -> {
            try {
                Waiting.on(commit);
            } catch (PravegaException failed) {
                throw failed.getCause() instanceof TxnFailedException ? notOpen(transaction, failed) : failed;
            }
        });
        if (options.readAfterWrite()) {
            awaitCommitted(transactions);
        }
    }

    /** Aborts what is still open; never fails, since what stays open expires by itself. */
    public void abort(Collection<TransactionId> transactions) {
        transactions.forEach(this::beginAbort);
    }

    /**
     * What has become of all after every open one was aborted.
     *
     * @throws PravegaException if one is still open
     */
    public Map<TransactionId, Transaction.Status> aborted(Collection<TransactionId> transactions, long epoch) {
        transactions.stream().map(this::beginAbort).toList().forEach(Waiting::on);
        Map<TransactionId, Transaction.Status> statuses = statuses(transactions, epoch);
        statuses.forEach((transaction, status) -> {
            if (status == Transaction.Status.OPEN) {
                throw new PravegaException(transaction + " can be neither aborted nor committed now");
            }
        });
        return statuses;
    }

    private CompletableFuture<Void> beginAbort(TransactionId transaction) {
        connection.leases().end(transaction.id());
        return connection.controller().abortTransaction(transaction.target(), transaction.id())
                .handle((answer, failure) -> {
                    if (failure != null) {
                        LOG.info("Transaction {} was not aborted: {}", transaction, failure.toString());
                    }
                    return null;
                });
    }

    /**
     * How far each is. One that Pravega has forgotten, as it does a day or two after its end, counts as the option
     * on_unknown_epoch says.
     *
     * @throws PravegaException if one is forgotten, and the option says nothing
     */
    public Map<TransactionId, Transaction.Status> statuses(Collection<TransactionId> transactions, long epoch) {
        Map<TransactionId, CompletableFuture<Transaction.Status>> asked = new LinkedHashMap<>();
        transactions.forEach(each ->
                asked.put(each, connection.controller().checkTransactionStatus(each.target(), each.id())));
        Map<TransactionId, Transaction.Status> statuses = new LinkedHashMap<>();
        asked.forEach((transaction, status) -> {
            try {
                statuses.put(transaction, Waiting.on(status));
            } catch (StatusRuntimeException failed) {
                if (failed.getStatus().getCode() != Status.Code.NOT_FOUND) {
                    throw failed;
                }
                UnknownEpoch decision = options.onUnknownEpoch().decide(epoch, "Pravega has forgotten what became of "
                        + transaction + ", since the driver was down for long in the middle of the epoch");
                statuses.put(transaction, decision == UnknownEpoch.WRITE
                        ? Transaction.Status.ABORTED : Transaction.Status.COMMITTED);
            }
        });
        return statuses;
    }

    /** Asks for one after the other, often at first: they are committed side by side, usually within 100 ms. */
    private void awaitCommitted(Collection<TransactionId> transactions) {
        long longest = options.transactionStatusPollIntervalMs();
        int polls = 0;
        long began = System.nanoTime();
        boolean told = false;
        for (TransactionId transaction : transactions) {
            Transaction.Status status = status(transaction);
            while (status == Transaction.Status.COMMITTING) {
                if (!told && System.nanoTime() - began > LONG_COMMIT_NANOS) {
                    told = true;
                    LOG.info("{} transactions are being committed for {} s", transactions.size(),
                            TimeUnit.NANOSECONDS.toSeconds(LONG_COMMIT_NANOS));
                }
                long interval = polls++ < EAGER_POLLS ? EAGER_POLL_MS : longest;
                Waiting.sleep(Math.min(interval, longest), TimeUnit.MILLISECONDS);
                status = status(transaction);
            }
            if (status != Transaction.Status.COMMITTED) {
                throw new PravegaException(transaction + " is " + status + " after its commit");
            }
        }
    }

    private Transaction.Status status(TransactionId transaction) {
        return Waiting.on(connection.controller().checkTransactionStatus(transaction.target(), transaction.id()));
    }

    private static PravegaException notOpen(TransactionId transaction, Throwable cause) {
        return new PravegaException(transaction + " is not open any more; if it expired, raise "
                + PravegaOptions.TRANSACTION_TIMEOUT_MS, cause);
    }
}
