package io.github.murmuration.pravega.spark;

import io.pravega.client.stream.Stream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** What batch and streaming writes by transactions have in common, on the driver. */
final class TransactionalWrites {
    private final PravegaOptions options;
    private final EventColumns columns;
    private final long timeoutMs;
    /** This attempt to write a batch or an epoch. */
    private final UUID write = UUID.randomUUID();

    TransactionalWrites(PravegaOptions options, EventColumns columns, long defaultTimeoutMs) {
        this.options = options;
        this.columns = columns;
        timeoutMs = options.transactionTimeoutMs(defaultTimeoutMs);
    }

    PravegaOptions options() {
        return options;
    }

    Connections.Lease lease() {
        return Connections.lease(options);
    }

    TransactionalWriterFactory writerFactory() {
        try (Connections.Lease lease = lease()) {
            options.targetStream().ifPresent(
                    stream -> lease.connection().ensureExists(Stream.of(options.scope(), stream), options));
        }
        return new TransactionalWriterFactory(options, columns, write, timeoutMs);
    }

    /** Writes in transactions what tasks have kept. */
    List<TransactionId> write(List<KeptEvents> kept) {
        TransactionalWriterFactory writers = writerFactory();
        List<TransactionId> written = new ArrayList<>();
        for (KeptEvents events : kept) {
            try (TransactionalDataWriter writer = writers.createWriter(written.size(), 0)) {
                writer.write(events);
                written.addAll(writer.commit().transactions());
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
        return written;
    }

    Transactions transactions(Connections.Lease lease) {
        return new Transactions(lease.connection(), options, timeoutMs);
    }

    /** Aborts the transactions of which the driver knows, and lets go of the others. */
    void abort(WriterCommitMessage[] messages) {
        try (Connections.Lease lease = lease()) {
            transactions(lease).abort(WrittenRows.transactions(messages));
            lease.connection().leases().endAll(write);
        }
    }
}
