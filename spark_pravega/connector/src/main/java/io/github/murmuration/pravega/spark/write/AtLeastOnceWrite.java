// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.pravega.client.stream.Stream;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/** Writes without transactions: events can be read at once, and a repeated task or epoch writes them again. */
final class AtLeastOnceWrite implements BatchWrite, StreamingWrite {
    private final PravegaOptions options;
    private final EventColumns columns;
    private final boolean prompt;

    /** @param prompt whether its events are to be written one by one, as they come */
    AtLeastOnceWrite(PravegaOptions options, EventColumns columns, boolean prompt) {
        this.options = options;
        this.columns = columns;
        this.prompt = prompt;
    }

    @Override
    public AtLeastOnceWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
        return writerFactory();
    }

    @Override
    public AtLeastOnceWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
        return writerFactory();
    }

    @Override
    public boolean useCommitCoordinator() {
        return false;
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
        // Every task has flushed.
    }

    @Override
    public void commit(long epoch, WriterCommitMessage[] messages) {
        // Every task has flushed.
    }

    @Override
    public void abort(WriterCommitMessage[] messages) {
        // What is written stays written.
    }

    @Override
    public void abort(long epoch, WriterCommitMessage[] messages) {
        // What is written stays written.
    }

    private AtLeastOnceWriterFactory writerFactory() {
        try (Connections.Lease lease = Connections.lease(options)) {
            options.targetStream().ifPresent(
                    stream -> lease.connection().targets().ensureExists(Stream.of(options.scope(), stream), options));
        }
        return new AtLeastOnceWriterFactory(options, columns, prompt);
    }
}
