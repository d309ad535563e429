// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import java.util.List;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/** All events that a stream holds when the read is planned. */
final class EventBatch<S> implements Batch {
    private final EventSource<S> source;
    private final StructType columns;
    private InputPartition[] slices;

    EventBatch(EventSource<S> source, StructType columns) {
        this.source = source;
        this.columns = columns;
    }

    @Override
    public synchronized InputPartition[] planInputPartitions() {
        if (slices == null) {
            try (StreamReads<S> reads = source.open()) {
                List<S> states = reads.states(null);
                PartitionOffsets end = reads.latest(states);
                boolean isAll = source.startingOffsets().orElse(StartingOffsets.EARLIEST) == StartingOffsets.EARLIEST;
                slices = reads.slices(isAll ? reads.earliest(states) : end, end);
            }
        }
        return slices;
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return source.readers(columns);
    }
}
