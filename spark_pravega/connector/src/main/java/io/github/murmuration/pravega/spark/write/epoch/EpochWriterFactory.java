// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.write.transaction.TransactionalWriterFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;

/**
 * Makes the writers of a streaming query's tasks, on the executors.
 *
 * @param limitBytes what one task may keep for the driver
 * @param keepsAny whether it keeps rows for a stream that scales by itself, too
 */
record EpochWriterFactory(TransactionalWriterFactory transactions, long limitBytes, boolean keepsAny)
        implements StreamingDataWriterFactory {
    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task, long epoch) {
        return new EpochDataWriter(
                transactions.columns(), transactions.createWriter(partition, task), limitBytes, keepsAny);
    }
}
