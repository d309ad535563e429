// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/** A read of one stream: once, or by micro-batches. */
record EventScan(EventSource<?> source, StructType columns) implements Scan {
    @Override
    public StructType readSchema() {
        return columns;
    }

    @Override
    public String description() {
        return source.description() + " " + columns.catalogString();
    }

    @Override
    public Batch toBatch() {
        return new EventBatch<>(source, columns);
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
        return new EventMicroBatchStream<>(
                source, columns, new InitialOffset<>(checkpointLocation, PartitionOffsets::fromJson));
    }
}
