// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.client.Connections;
import io.github.murmuration.nats.spark.client.EventStream;
import io.github.murmuration.nats.spark.client.NatsConnection;
import io.github.murmuration.nats.spark.client.PartitionState;
import io.github.murmuration.nats.spark.client.Partitions;
import io.github.murmuration.spark.common.client.Leases;
import io.github.murmuration.spark.common.read.PartitionOffsets;
import io.github.murmuration.spark.common.read.ReadShares;
import io.github.murmuration.spark.common.read.StreamReads;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.apache.spark.sql.connector.read.InputPartition;

/** What of a stream is to be read, and whether it is still there. */
final class NatsReads implements StreamReads<PartitionState> {
    private static final long LOOK_BEHIND_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Leases.Lease<NatsConnection> lease;
    private final NatsConnection connection;
    private final EventStream stream;
    private final DataLoss dataLoss;
    private int partitions;
    private long lookedBehindAt;

    private NatsReads(Leases.Lease<NatsConnection> lease, EventStream stream, DataLoss dataLoss) {
        this.lease = lease;
        this.stream = stream;
        this.dataLoss = dataLoss;
        connection = lease.connection();
        partitions = Partitions.all(connection, stream).size();
        lookedBehindAt = System.nanoTime();
    }

    /** @throws io.github.murmuration.nats.spark.NatsException if there is no such stream */
    static NatsReads open(NatsOptions options) {
        Leases.Lease<NatsConnection> lease = Connections.lease(options.servers());
        try {
            return new NatsReads(lease, options.stream(), new DataLoss(options.failOnDataLoss()));
        } catch (RuntimeException failed) {
            lease.close();
            throw failed;
        }
    }

    /**
     * One for each partition, also of those that came; one that is gone is data loss, and counts as empty and new. A
     * stream that was created anew has its own.
     */
    @Override
    public List<PartitionState> states(PartitionOffsets read) {
        int known = Math.max(partitions, read == null ? 0 : read.partitions());
        List<Optional<PartitionState>> found = find(known);
        int there = 0;
        while (there < found.size() && found.get(there).isPresent()) {
            there++;
        }
        boolean isAnother = read != null && there > 0 && !found.get(0).get().created().equals(read.life());
        partitions = isAnother ? there : Math.max(known, there);
        List<PartitionState> states = new ArrayList<>();
        for (int partition = 0; partition < partitions; partition++) {
            if (found.get(partition).isEmpty()) {
                dataLoss.missing(stream.partition(partition), read == null ? 1 : read.next(partition, 1));
            }
            states.add(found.get(partition).orElse(new PartitionState(1, 0, read == null ? "" : read.life())));
        }
        return states;
    }

    /** Those that are known, and now and then what follows: each question about one that is not there is an error. */
    private List<Optional<PartitionState>> find(int known) {
        if (System.nanoTime() - lookedBehindAt < LOOK_BEHIND_NANOS) {
            return Partitions.states(connection, stream, known);
        }
        List<Optional<PartitionState>> found = Partitions.states(connection, stream, known + 1);
        while (found.get(found.size() - 1).isPresent()) {
            found = Partitions.states(connection, stream, 2 * found.size());
        }
        lookedBehindAt = System.nanoTime();
        return found;
    }

    @Override
    public PartitionOffsets earliest(List<PartitionState> states) {
        return offsets(states, PartitionState::first);
    }

    @Override
    public PartitionOffsets latest(List<PartitionState> states) {
        return offsets(states, PartitionState::end);
    }

    /** A stream lives as long as its first partition. */
    private static PartitionOffsets offsets(List<PartitionState> states, ToLongFunction<PartitionState> of) {
        return new PartitionOffsets(states.get(0).created(), states.stream().mapToLong(of).toArray());
    }

    @Override
    public void createdAnew() {
        dataLoss.createdAnew(stream.toString());
    }

    @Override
    public PartitionOffsets left(PartitionOffsets read, List<PartitionState> states) {
        long[] next = new long[states.size()];
        for (int partition = 0; partition < next.length; partition++) {
            PartitionState state = states.get(partition);
            next[partition] = present(partition, read.next(partition, 1), state);
        }
        return read.with(next);
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
    @Override
    public PartitionOffsets limited(
            PartitionOffsets from, PartitionOffsets target, List<PartitionState> states, long limit) {
        long[] next = from.all();
        long[] available = new long[next.length];
        for (int partition = 0; partition < next.length; partition++) {
            available[partition] = Math.max(0, target.next(partition, next[partition]) - next[partition]);
        }
        long[] shares = ReadShares.of(limit, available);
        for (int partition = 0; partition < next.length; partition++) {
            next[partition] += shares[partition];
        }
        return from.with(next);
    }

    /** What lies between two offsets: of a stream that was created anew in between, from its first event on. */
    @Override
    public InputPartition[] slices(PartitionOffsets from, PartitionOffsets to) {
        List<PartitionState> states = states(to);
        List<InputPartition> slices = new ArrayList<>();
        Optional<PartitionOffsets> begin = begin(from, to, states);
        if (begin.isEmpty()) {
            return new InputPartition[0];
        }
        for (int partition = 0; partition < to.partitions(); partition++) {
            PartitionState state = states.get(partition);
            long end = to.next(partition, 0);
            long start = begin.get().next(partition, 1);
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
                slices.add(new PartitionSlice(stream, partition, state.created(), start, end));
            }
        }
        return slices.toArray(InputPartition[]::new);
    }

    /** {@code lagEvents}: what the stream holds beyond the last batch. */
    @Override
    public Map<String, String> metrics(PartitionOffsets consumed, List<PartitionState> states) {
        long lag = 0;
        for (int partition = 0; partition < states.size(); partition++) {
            PartitionState state = states.get(partition);
            lag += Math.max(0, state.end() - Math.max(state.first(), consumed.next(partition, state.first())));
        }
        return Map.of("lagEvents", Long.toString(lag));
    }

    @Override
    public void close() {
        lease.close();
    }
}
