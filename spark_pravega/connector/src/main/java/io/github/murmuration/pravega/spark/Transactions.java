package io.github.murmuration.pravega.spark;

import io.github.murmuration.pravega.shaded.io.grpc.Status;
import io.github.murmuration.pravega.shaded.io.grpc.StatusRuntimeException;
import io.pravega.client.stream.Transaction;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends transactions that tasks have written, many at a time. */
final class Transactions {
    private static final Logger LOG = LoggerFactory.getLogger(Transactions.class);
    private static final long EAGER_POLL_MS = 5;
    private static final int EAGER_POLLS = 40;

    private final PravegaConnection connection;
    private final PravegaOptions options;
    private final long timeoutMs;

    Transactions(PravegaConnection connection, PravegaOptions options, long timeoutMs) {
        this.connection = connection;
        this.options = options;
        this.timeoutMs = timeoutMs;
    }

    /**
     * Renews every lease in full.
     *
     * @throws PravegaException if one is not open any more
     */
    void renew(Collection<TransactionId> transactions) {
        List<CompletableFuture<Transaction.PingStatus>> pings = transactions.stream()
                .map(each -> connection.controller().pingTransaction(each.target(), each.id(), timeoutMs)).toList();
        int index = 0;
        for (TransactionId transaction : transactions) {
            try {
                if (Waiting.on(pings.get(index++)) == Transaction.PingStatus.OPEN) {
                    continue;
                }
            } catch (PravegaException | StatusRuntimeException failed) {
                throw expired(transaction, failed);
            }
            throw expired(transaction, null);
        }
    }

    /**
     * Commits all. Returns when their events can be read, or, without read_after_write_consistency, when nothing can
     * undo them any more.
     *
     * @throws PravegaException if one had expired or was aborted
     */
    void commit(Collection<TransactionId> transactions) {
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
                throw expired(transaction, failed);
            }
        });
        if (options.readAfterWrite()) {
            awaitCommitted(transactions);
        }
    }

    /** Aborts what is still open; never fails, since what stays open expires by itself. */
    void abort(Collection<TransactionId> transactions) {
        for (TransactionId transaction : transactions) {
            connection.leases().end(transaction.id());
            connection.controller().abortTransaction(transaction.target(), transaction.id())
                    .exceptionally(failure -> {
                        LOG.info("Transaction {} was not aborted, it will expire: {}", transaction, failure.toString());
                        return null;
                    });
        }
    }

    /** @throws PravegaException if Pravega has forgotten one: it keeps ended transactions for a day or two */
    Map<TransactionId, Transaction.Status> statuses(Collection<TransactionId> transactions) {
        Map<TransactionId, CompletableFuture<Transaction.Status>> asked = new LinkedHashMap<>();
        transactions.forEach(each ->
                asked.put(each, connection.controller().checkTransactionStatus(each.target(), each.id())));
        Map<TransactionId, Transaction.Status> statuses = new LinkedHashMap<>();
        asked.forEach((transaction, status) -> {
            try {
                statuses.put(transaction, Waiting.on(status));
            } catch (StatusRuntimeException forgotten) {
                if (forgotten.getStatus().getCode() == Status.Code.NOT_FOUND) {
                    throw new PravegaException("Pravega does not know any more whether " + transaction
                            + " was committed: the query was down for too long in the middle of an epoch", forgotten);
                }
                throw forgotten;
            }
        });
        return statuses;
    }

    /** Asks for one after the other, often at first: they are committed side by side, usually within 100 ms. */
    private void awaitCommitted(Collection<TransactionId> transactions) {
        long longest = options.transactionStatusPollIntervalMs();
        int polls = 0;
        for (TransactionId transaction : transactions) {
            Transaction.Status status = status(transaction);
            while (status == Transaction.Status.COMMITTING) {
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

    private static PravegaException expired(TransactionId transaction, Throwable cause) {
        return new PravegaException(transaction + " is not open any more; if it expired, raise "
                + PravegaOptions.TRANSACTION_TIMEOUT_MS, cause);
    }
}
