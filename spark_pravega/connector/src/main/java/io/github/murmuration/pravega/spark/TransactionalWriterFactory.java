package io.github.murmuration.pravega.spark;

import java.util.UUID;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;

/** Makes the transactional writers, on the executors. */
record TransactionalWriterFactory(PravegaOptions options, EventColumns columns, UUID write, long timeoutMs)
        implements DataWriterFactory, StreamingDataWriterFactory {
    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task) {
        return new TransactionalDataWriter(options, columns, write, timeoutMs, partition);
    }

    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task, long epoch) {
        return createWriter(partition, task);
    }
}
