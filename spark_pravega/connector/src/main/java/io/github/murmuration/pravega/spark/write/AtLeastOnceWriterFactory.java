// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import io.github.murmuration.pravega.spark.PravegaOptions;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;

/** Makes the writers without transactions, on the executors. */
record AtLeastOnceWriterFactory(PravegaOptions options, EventColumns columns, boolean prompt)
        implements DataWriterFactory, StreamingDataWriterFactory {
    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task) {
        return new AtLeastOnceDataWriter(options, columns, prompt);
    }

    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task, long epoch) {
        return createWriter(partition, task);
    }
}
