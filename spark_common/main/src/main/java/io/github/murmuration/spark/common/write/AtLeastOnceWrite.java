// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.write;

import java.util.function.Supplier;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/**
 * Writes a batch, or the epochs of a query, at least once: all is durable when its tasks have ended, and a repeated
 * task or epoch writes its rows again.
 *
 * @param writers asked for in the driver, for a batch once, for a query before each epoch
 */
public record AtLeastOnceWrite(Supplier<? extends TaskWriters> writers) implements BatchWrite, StreamingWrite {
    @Override
    public TaskWriters createBatchWriterFactory(PhysicalWriteInfo info) {
        return writers.get();
    }

    @Override
    public TaskWriters createStreamingWriterFactory(PhysicalWriteInfo info) {
        return writers.get();
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

    /** For Spark's log. */
    @Override
    public String toString() {
        return "a write at least once";
    }
}
