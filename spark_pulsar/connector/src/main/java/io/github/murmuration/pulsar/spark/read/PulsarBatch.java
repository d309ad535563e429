// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.pulsar.spark.client.Connections;
import java.util.List;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/** All events that a stream holds when the read is planned. */
final class PulsarBatch implements Batch {
    private final PulsarOptions options;
    private final StructType columns;
    private InputPartition[] slices;

    PulsarBatch(PulsarOptions options, StructType columns) {
        this.options = options;
        this.columns = columns;
    }

    @Override
    public synchronized InputPartition[] planInputPartitions() {
        if (slices == null) {
            try (Connections.Lease lease = Connections.lease(options)) {
                StreamReads reads = new StreamReads(
                        lease.connection().streams(), options.stream(), new DataLoss(options.failOnDataLoss()));
                List<PartitionState> states = reads.states(null);
                PulsarOffset end = StreamReads.latest(states);
                boolean isAll = options.startingOffsets().orElse(StartingOffsets.EARLIEST) == StartingOffsets.EARLIEST;
                slices = reads.slices(isAll ? StreamReads.earliest(states) : end, end);
            }
        }
        return slices;
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new SliceReaderFactory(options, columns);
    }
}
