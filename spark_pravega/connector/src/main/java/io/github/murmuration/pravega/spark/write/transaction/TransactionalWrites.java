// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.write.append.KeptEvents;
import io.github.murmuration.spark.common.write.EventColumns;
import io.pravega.client.stream.Stream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.spark.sql.SparkSession;
import scala.Option;

/** What batch and streaming writes by transactions have in common, on the driver. */
public final class TransactionalWrites {
    private final PravegaOptions options;
    private final EventColumns columns;
    private final long timeoutMs;
    private final boolean isDefaultTimeout;
    /** This attempt to write a batch or an epoch. */
    private final UUID write = UUID.randomUUID();
    /** From the first task to the end: so the connection lives on that keeps the tasks' transactions open. */
    private Connections.Lease lease;

    public TransactionalWrites(PravegaOptions options, EventColumns columns, long defaultTimeoutMs) {
        this.options = options;
        this.columns = columns;
        timeoutMs = options.transactionTimeoutMs(defaultTimeoutMs);
        isDefaultTimeout = timeoutMs == defaultTimeoutMs;
    }

    public PravegaOptions options() {
        return options;
    }

    public Connections.Lease lease() {
        return Connections.lease(options);
    }

    /** Of the tasks, whose transactions the driver keeps open from the end of each task on. */
    public synchronized TransactionalWriterFactory writerFactory() {
        if (lease == null) {
            lease = lease();
        }
        try {
            return writerFactory(lease.connection());
        } catch (RuntimeException | Error failed) { // Spark does not abort then
            end();
            throw failed;
        }
    }

    private TransactionalWriterFactory writerFactory(PravegaConnection connection) {
        options.targetStream().map(name -> Stream.of(options.scope(), name)).ifPresent(stream -> {
            connection.targets().ensureExists(stream, options);
            if (!isDefaultTimeout) {
                connection.leases().limit().require(stream, timeoutMs);
            }
        });
        WrittenTransactions written = new WrittenTransactions(keepAlive(connection));
        written.register(SparkSession.active().sparkContext(), Option.empty(), false);
        return new TransactionalWriterFactory(options, columns, write, timeoutMs, written);
    }

    private Consumer<TransactionId> keepAlive(PravegaConnection connection) {
        return each -> connection.leases().keep(write, each.target(), each.id(), timeoutMs);
    }

    /** Writes what tasks have kept, in a transaction for each stream. */
    public List<TransactionId> write(List<KeptEvents> kept) {
        try (Connections.Lease keeping = lease();
                TransactionalDataWriter writer = new TransactionalDataWriter(
                        options, columns, write, timeoutMs, TransactionId.KEPT, keepAlive(keeping.connection()))) {
            return write(writer, kept);
        }
    }

    private static List<TransactionId> write(TransactionalDataWriter writer, List<KeptEvents> kept) {
        try {
            for (KeptEvents events : kept) {
                writer.write(events);
            }
            return writer.commit().transactions();
        } catch (IOException failed) {
            writer.abort();
            throw new UncheckedIOException(failed);
        } catch (RuntimeException failed) {
            writer.abort();
            throw failed;
        }
    }

    public Transactions transactions(Connections.Lease lease) {
        return new Transactions(lease.connection(), options, timeoutMs);
    }

    /** Aborts the transactions of which the driver knows, and lets go of the others. */
    public void abort(List<TransactionId> written) {
        try (Connections.Lease last = lease()) {
            transactions(last).abort(written);
        } finally {
            letGo();
        }
    }

    /** The write has failed: what of it is still open expires. */
    public void letGo() {
        try (Connections.Lease last = lease()) {
            last.connection().leases().endAll(write);
        } finally {
            end();
        }
    }

    /** The write is over. */
    public synchronized void end() {
        if (lease != null) {
            lease.close();
            lease = null;
        }
    }
}
