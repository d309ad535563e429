// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.client.Connections;
import io.github.murmuration.nats.spark.client.NatsConnection;
import io.github.murmuration.spark.common.client.Leases;
import io.github.murmuration.spark.common.write.EventColumns;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;

/** Writes the epochs of a streaming query exactly once: its tasks do, when the driver has noted that they begin. */
final class EpochWrite implements StreamingWrite {
    /** Spark's local property with the id of the run to which a streaming query's thread belongs. */
    private static final String JOB_GROUP = "spark.jobGroup.id";

    private final NatsOptions options;
    private final EventColumns columns;
    private final String query;

    EpochWrite(NatsOptions options, EventColumns columns, String query) {
        this.options = options;
        this.columns = columns;
        this.query = query;
    }

    @Override
    public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
        SparkContext context = SparkSession.active().sparkContext();
        String epoch = context.getLocalProperty(MicroBatchExecution.BATCH_ID_KEY());
        if (epoch == null) {
            throw new UnsupportedOperationException(
                    "exactly once goes with micro-batches only: set exactly_once=false for other modes");
        }
        String run = String.valueOf(context.getLocalProperty(JOB_GROUP));
        try (Leases.Lease<NatsConnection> lease = Connections.lease(options.servers())) {
            EpochPlan plan = QueryEpochs.of(options, query)
                    .begin(lease.connection(), options, run, Long.parseLong(epoch), info.numPartitions());
            return new EpochWriterFactory(options, columns, plan);
        }
    }

    /**
     * Attempts that write side by side are kept apart by the condition of each batch. Spark's coordinator would deny a
     * task that failed while it committed its next attempt, if that comes soon.
     */
    @Override
    public boolean useCommitCoordinator() {
        return false;
    }

    @Override
    public void commit(long epoch, WriterCommitMessage[] messages) {
        // All is written by then, and Spark notes that in its checkpoint.
    }

    @Override
    public void abort(long epoch, WriterCommitMessage[] messages) {
        // What was written stays: the repetition of the epoch finds it.
    }
}
