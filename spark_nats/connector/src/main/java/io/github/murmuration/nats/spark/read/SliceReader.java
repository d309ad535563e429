// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.client.Connections;
import io.github.murmuration.nats.spark.client.NatsConnection;
import io.github.murmuration.nats.spark.client.Partitions;
import io.github.murmuration.nats.spark.client.StoredEvent;
import io.github.murmuration.nats.spark.client.StoredEvents;
import io.github.murmuration.spark.common.client.Leases;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructType;

/** Reads a slice from its first to its last event, none of which may be missing. */
final class SliceReader implements PartitionReader<InternalRow> {
    private final PartitionSlice slice;
    private final DataLoss dataLoss;
    private final StoredEventRow row;
    private final Leases.Lease<NatsConnection> lease;
    private final StoredEvents events;
    private long wanted;

    SliceReader(NatsOptions options, StructType columns, PartitionSlice slice) {
        this.slice = slice;
        dataLoss = new DataLoss(options.failOnDataLoss());
        row = new StoredEventRow(columns, slice);
        wanted = slice.start();
        lease = Connections.lease(options.servers());
        try {
            events = new StoredEvents(lease.connection(), slice.jetStream(), null, slice.start(), slice.end());
        } catch (RuntimeException failed) {
            lease.close();
            throw failed;
        }
    }

    @Override
    public boolean next() {
        StoredEvent stored = events.next();
        long found = stored == null ? slice.end() : stored.sequence();
        if (found != wanted) {
            dataLoss.gone(slice.jetStream(), wanted, found);
        }
        if (stored == null) {
            wanted = slice.end();
            requireSame();
            return false;
        }
        wanted = found + 1;
        row.set(stored, found);
        return true;
    }

    /** Only a partition that still is the one of the plan held what was read; it is asked for once, at the end. */
    private void requireSame() {
        Partitions.state(lease.connection(), slice.stream(), slice.partition()).ifPresent(state -> {
            if (!state.created().equals(slice.created())) {
                dataLoss.createdAnew(slice.jetStream());
            }
        });
    }

    @Override
    public InternalRow get() {
        return row.row();
    }

    @Override
    public void close() {
        events.close();
        lease.close();
    }
}
