// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.write;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.spark.common.write.EventColumns;
import io.github.murmuration.spark.common.write.PartitionCounts;
import io.github.murmuration.spark.common.write.TaskWriters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;

/** Opens the writers of a batch, or of an epoch, that is written at least once. */
record AtLeastOnceWriters(PulsarOptions options, EventColumns columns, PartitionCounts counts)
        implements TaskWriters {
    @Override
    public DataWriter<InternalRow> open() {
        return new AtLeastOnceDataWriter(options, columns, counts);
    }
}
