// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.spark.common.write.EventColumns;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;

/** Opens the writer of a task attempt of an epoch. */
record EpochWriterFactory(NatsOptions options, EventColumns columns, EpochPlan plan)
        implements StreamingDataWriterFactory {
    @Override
    public DataWriter<InternalRow> createWriter(int partition, long taskId, long epoch) {
        if (epoch != plan.epoch()) {
            throw new IllegalStateException("epoch " + epoch + " is written, and epoch " + plan.epoch() + " was begun");
        }
        TaskContext context = TaskContext.get();
        boolean repeated = context != null && (context.attemptNumber() > 0 || context.stageAttemptNumber() > 0);
        return new EpochDataWriter(options, columns, plan, partition, repeated);
    }
}
