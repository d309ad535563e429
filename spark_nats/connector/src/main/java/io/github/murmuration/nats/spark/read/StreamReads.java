// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.client.EventStream;
import io.github.murmuration.nats.spark.client.NatsConnection;
import io.github.murmuration.nats.spark.client.PartitionState;
import io.github.murmuration.nats.spark.client.Partitions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.connector.read.InputPartition;

/** What of a stream is to be read, and whether it is still there. */
final class StreamReads {
    private final NatsConnection connection;
    private final EventStream stream;
    private final DataLoss dataLoss;
    private final int partitions;

    /** @throws io.github.murmuration.nats.spark.NatsException if there is no such stream */
    StreamReads(NatsConnection connection, EventStream stream, DataLoss dataLoss) {
        this.connection = connection;
        this.stream = stream;
        this.dataLoss = dataLoss;
        partitions = Partitions.all(connection, stream).size();
    }

    /** One for each partition; one that is gone is data loss, and counts as empty and new. */
    List<PartitionState> states(NatsOffset read) {
        List<Optional<PartitionState>> found =
                Partitions.states(connection, stream, Math.max(partitions, read == null ? 0 : read.partitions()));
        List<PartitionState> states = new ArrayList<>();
        for (int partition = 0; partition < found.size(); partition++) {
            if (found.get(partition).isEmpty()) {
                dataLoss.missing(stream.partition(partition), read == null ? 1 : read.next(partition, 1));
            }
            states.add(found.get(partition).orElse(new PartitionState(1, 0)));
        }
        return states;
    }

    static NatsOffset earliest(List<PartitionState> states) {
        return new NatsOffset(states.stream().mapToLong(PartitionState::first).toArray());
    }

    static NatsOffset latest(List<PartitionState> states) {
        return new NatsOffset(states.stream().mapToLong(PartitionState::end).toArray());
    }

    /** Where to read on after {@code read}: there, unless that is lost. */
    NatsOffset present(NatsOffset read, List<PartitionState> states) {
        long[] next = new long[states.size()];
        for (int partition = 0; partition < next.length; partition++) {
            PartitionState state = states.get(partition);
            next[partition] = present(partition, read.next(partition, state.first()), state);
        }
        return new NatsOffset(next);
    }

    private long present(int partition, long wanted, PartitionState state) {
        if (wanted < state.first()) {
            dataLoss.gone(stream.partition(partition), wanted, state.first());
        } else if (wanted > state.end()) {
            dataLoss.replaced(stream.partition(partition), wanted, state.end());
        } else {
            return wanted;
        }
        return state.first();
    }

    /** Offset from which on at most {@code limit} events before {@code target} are read. */
    static NatsOffset limited(NatsOffset from, NatsOffset target, long limit) {
        long[] next = from.all();
        long[] available = new long[next.length];
        for (int partition = 0; partition < next.length; partition++) {
            available[partition] = Math.max(0, target.next(partition, next[partition]) - next[partition]);
        }
        long[] shares = ReadShares.of(limit, available);
        for (int partition = 0; partition < next.length; partition++) {
            next[partition] += shares[partition];
        }
        return new NatsOffset(next);
    }

    /**
     * What lies between two offsets. An end before its start is that of a stream that was created anew, which then
     * begins with its first event.
     */
    InputPartition[] slices(NatsOffset from, NatsOffset to) {
        List<PartitionState> states = states(to);
        List<InputPartition> slices = new ArrayList<>();
        for (int partition = 0; partition < to.partitions(); partition++) {
            PartitionState state = states.get(partition);
            long end = to.next(partition, 0);
            long start = from.next(partition, state.first());
            if (start == end) {
                continue;
            }
            if (start > end || start < state.first() || end > state.end()) {
                if (start <= end && end > state.end()) {
                    dataLoss.replaced(stream.partition(partition), end, state.end());
                } else {
                    present(partition, start, state);
                }
                start = state.first();
                end = Math.min(end, state.end());
            }
            if (start < end) {
                slices.add(new PartitionSlice(stream, partition, start, end));
            }
        }
        return slices.toArray(InputPartition[]::new);
    }
}
