// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.read.realtime.RealTimeReader;
import io.github.murmuration.pravega.spark.read.realtime.RealTimeSlice;
import io.github.murmuration.pravega.spark.read.segment.SegmentReader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/** Makes the readers, on the executors. */
public record SegmentReaderFactory(PravegaOptions options, StructType columns) implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
        return partition instanceof RealTimeSlice slice
                ? new RealTimeReader(options, columns, slice)
                : new SegmentReader(options, columns, ((SegmentPartition) partition).slice());
    }
}
