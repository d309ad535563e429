// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.write;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;

/** Opens writers to which it is all one of which task or epoch the rows are. */
public interface TaskWriters extends DataWriterFactory, StreamingDataWriterFactory {
    DataWriter<InternalRow> open();

    @Override
    default DataWriter<InternalRow> createWriter(int partition, long taskId) {
        return open();
    }

    @Override
    default DataWriter<InternalRow> createWriter(int partition, long taskId, long epoch) {
        return open();
    }
}
