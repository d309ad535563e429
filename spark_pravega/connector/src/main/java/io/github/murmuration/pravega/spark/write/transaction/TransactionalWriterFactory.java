// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.spark.common.write.EventColumns;
import java.util.UUID;
import org.apache.spark.sql.connector.write.DataWriterFactory;

/** Makes the transactional writers, on the executors. */
public record TransactionalWriterFactory(
        PravegaOptions options, EventColumns columns, UUID write, long timeoutMs, WrittenTransactions written)
        implements DataWriterFactory {
    @Override
    public TransactionalDataWriter createWriter(int partition, long task) {
        return new TransactionalDataWriter(options, columns, write, timeoutMs, partition, written::add);
    }
}
