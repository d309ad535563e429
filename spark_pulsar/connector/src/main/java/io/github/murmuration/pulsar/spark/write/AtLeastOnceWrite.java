// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.write;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import java.util.UUID;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/** Writes a batch, or the epochs of a query, at least once. */
record AtLeastOnceWrite(PulsarOptions options, EventColumns columns) implements BatchWrite, StreamingWrite {
    private record Factory(PulsarOptions options, EventColumns columns, PartitionCounts counts)
            implements DataWriterFactory, StreamingDataWriterFactory {
        @Override
        public DataWriter<InternalRow> createWriter(int partition, long taskId) {
            return new AtLeastOnceDataWriter(options, columns, counts);
        }

        @Override
        public DataWriter<InternalRow> createWriter(int partition, long taskId, long epoch) {
            return createWriter(partition, taskId);
        }
    }

    private Factory factory() {
        return new Factory(options, columns, new PartitionCounts(UUID.randomUUID().toString()));
    }

    @Override
    public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
        return factory();
    }

    @Override
    public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
        return factory();
    }

    /** A task that failed while it committed would be denied its next attempt, if that comes soon. */
    @Override
    public boolean useCommitCoordinator() {
        return false;
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
        // All is written by then.
    }

    @Override
    public void commit(long epoch, WriterCommitMessage[] messages) {
        // All is written by then.
    }

    @Override
    public void abort(WriterCommitMessage[] messages) {
        // What was written stays.
    }

    @Override
    public void abort(long epoch, WriterCommitMessage[] messages) {
        // What was written stays.
    }
}
