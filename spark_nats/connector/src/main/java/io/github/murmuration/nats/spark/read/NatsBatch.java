// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.client.Connections;
import io.github.murmuration.nats.spark.client.PartitionState;
import java.util.List;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/** All events that a stream holds when the read is planned. */
final class NatsBatch implements Batch {
    private final NatsOptions options;
    private final StructType columns;
    private InputPartition[] slices;

    NatsBatch(NatsOptions options, StructType columns) {
        this.options = options;
        this.columns = columns;
    }

    @Override
    public synchronized InputPartition[] planInputPartitions() {
        if (slices == null) {
            try (Connections.Lease lease = Connections.lease(options.servers())) {
                StreamReads reads = new StreamReads(
                        lease.connection(), options.stream(), new DataLoss(options.failOnDataLoss()));
                List<PartitionState> states = reads.states(null);
                NatsOffset end = StreamReads.latest(states);
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
