// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.pulsar.spark.client.Connection;
import io.github.murmuration.pulsar.spark.client.Connections;
import io.github.murmuration.pulsar.spark.client.Described;
import io.github.murmuration.pulsar.spark.client.EventStream;
import io.github.murmuration.pulsar.spark.client.Ledgers;
import io.github.murmuration.pulsar.spark.client.Place;
import io.github.murmuration.pulsar.spark.client.Streams;
import io.github.murmuration.spark.common.client.Leases;
import io.github.murmuration.spark.common.read.PartitionOffsets;
import io.github.murmuration.spark.common.read.ReadShares;
import io.github.murmuration.spark.common.read.StreamReads;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.apache.spark.sql.connector.read.InputPartition;

/** What of a stream is to be read, and whether it is still there. */
final class PulsarReads implements StreamReads<PartitionState> {
    /**
     * So many entries are looked at to tell whether all events are surely fewer than the limit. The broker reads each
     * as a whole, so they are few,
     */
    private static final int OF_ALL = 16;
    /** and so are those that are looked at among about as many as hold the limit, to tell how many to read. */
    private static final int OF_NEXT = 8;
    /** By so few no more than this multiple of the first estimate is read; and only so large a margin is "surely". */
    private static final int SURELY = 2;

    private final Leases.Lease<Connection> lease;
    private final Streams streams;
    private final EventStream stream;
    private final DataLoss dataLoss;
    private List<Ledgers> known = List.of();
    /** Events of an entry on average where each partition was read last, if more was left; 0 where nothing was read. */
    private double[] lastPerEntry = {};
    /** Of the stream as it was last described. */
    private String life = "";

    private PulsarReads(Leases.Lease<Connection> lease, EventStream stream, DataLoss dataLoss) {
        this.lease = lease;
        this.stream = stream;
        this.dataLoss = dataLoss;
        streams = lease.connection().streams();
    }

    static PulsarReads open(PulsarOptions options) {
        EventStream stream = options.stream();
        DataLoss dataLoss = new DataLoss(options.failOnDataLoss());
        return new PulsarReads(Connections.lease(options), stream, dataLoss);
    }

    /**
     * One for each partition. One that is gone is data loss.
     *
     * @param read up to where, or null
     * @throws io.github.murmuration.pulsar.spark.PulsarException if there is no such stream
     */
    @Override
    public List<PartitionState> states(PartitionOffsets read) {
        Described described = streams.describe(stream);
        life = described.life();
        List<PartitionState> states = new ArrayList<>();
        for (int partition = 0; partition < described.partitions(); partition++) {
            Optional<Place> last = streams.end(stream, partition);
            Optional<Ledgers> ledgers = last.isEmpty() ? Optional.empty() : streams.ledgers(stream, partition);
            if (ledgers.isEmpty()) {
                dataLoss.missing(stream.topic(partition), read == null ? 0 : read.next(partition, 0));
                break;
            }
            Place from = described.origins().get(partition).place(read == null ? 0 : read.next(partition, 0));
            Ledgers before = partition < known.size() ? known.get(partition) : Ledgers.NONE;
            states.add(new PartitionState(described.origins().get(partition), last.get(), ledgers.get(),
                    ledgers.get().with(before, from), described.cuts().get(partition)));
        }
        int before = read != null && read.life().equals(life) ? read.partitions() : 0;
        for (int partition = states.size(); partition < before; partition++) {
            dataLoss.missing(stream.topic(partition), read.next(partition, 0));
        }
        known = states.stream().map(PartitionState::known).toList();
        return states;
    }

    /** Whether any partition ends elsewhere than it did: that is asked for at less cost than all the rest. */
    @Override
    public boolean haveGrown(List<PartitionState> states) {
        return IntStream.range(0, states.size()).anyMatch(partition ->
                !Optional.of(states.get(partition).last()).equals(streams.end(stream, partition)));
    }

    @Override
    public PartitionOffsets earliest(List<PartitionState> states) {
        return offsets(states, PartitionState::head);
    }

    @Override
    public PartitionOffsets latest(List<PartitionState> states) {
        return offsets(states, PartitionState::end);
    }

    private PartitionOffsets offsets(List<PartitionState> states, ToLongFunction<PartitionState> of) {
        return new PartitionOffsets(life, states.stream().mapToLong(of).toArray());
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
            next[partition] = present(partition, read.next(partition, 0), state);
        }
        return read.with(next);
    }

    private long present(int partition, long wanted, PartitionState state) {
        if (wanted > state.end()) {
            dataLoss.replaced(stream.topic(partition), wanted, state.end());
            return state.head();
        }
        if (wanted < state.head()) {
            long lost = state.lostFrom(wanted);
            if (lost > 0) {
                dataLoss.gone(stream.topic(partition), wanted, state.head(), lost, state.isCertain(wanted));
                return state.head();
            }
        }
        return wanted;
    }

    /**
     * Offset up to which about {@code limit} events before {@code target} are read, in proportion to what there is; by
     * whole entries, and at least one of each partition that has any. How many events an entry has is estimated.
     */
    @Override
    public PartitionOffsets limited(
            PartitionOffsets from, PartitionOffsets target, List<PartitionState> states, long limit) {
        long[] next = from.all();
        long[] entries = new long[next.length];
        for (int partition = 0; partition < next.length; partition++) {
            entries[partition] = states.get(partition).entriesBetween(next[partition], target(target, from, partition));
        }
        double[] perEntry = new double[next.length];
        if (isAllWithin(limit, from, states, entries, perEntry)) {
            lastPerEntry = new double[0];
            for (int partition = 0; partition < next.length; partition++) {
                long end = target(target, from, partition);
                next[partition] = states.get(partition).hasEvents(next[partition], end) ? end : next[partition];
            }
            return from.with(next);
        }
        lastPerEntry = Arrays.copyOf(lastPerEntry, next.length);
        long[] shares = ReadShares.of(limit, events(entries, perEntry));
        for (int partition = 0; partition < next.length; partition++) {
            if (entries[partition] > 0) {
                PartitionState state = states.get(partition);
                Place start = state.origin().place(Math.max(next[partition], state.head()));
                long about = Math.max(1, Math.round(shares[partition] / perEntry[partition]));
                double there = sampled(partition, start, Math.min(entries[partition], about), OF_NEXT, state);
                long taken = Math.max(1, Math.min((long) (shares[partition] / there), SURELY * about));
                lastPerEntry[partition] = there;
                next[partition] = taken >= entries[partition] ? target(target, from, partition)
                        : state.origin().offset(state.ledgers().after(start, taken));
            }
        }
        return from.with(next);
    }

    /** Where a partition is to be read to; what came after a target was set has no place in it, and waits. */
    private static long target(PartitionOffsets target, PartitionOffsets from, int partition) {
        long start = from.next(partition, 0);
        return Math.max(start, target.next(partition, start));
    }

    /** Whether all is surely no more than the limit. Fills in how many events entries have about, if need be. */
    private boolean isAllWithin(
            long limit, PartitionOffsets from, List<PartitionState> states, long[] entries, double[] perEntry) {
        long all = Arrays.stream(entries).sum();
        if (all == 0 || all <= limit / Place.MOST_INDEXED) {
            return true;
        }
        if (isMore(limit, entries)) {
            System.arraycopy(lastPerEntry, 0, perEntry, 0, perEntry.length);
            return false;
        }
        long[] starts = from.all();
        boolean measured = true;
        for (int partition = 0; partition < entries.length; partition++) {
            PartitionState state = states.get(partition);
            Place start = state.origin().place(Math.max(starts[partition], state.head()));
            long window = Math.min(entries[partition], limit);
            perEntry[partition] = sampled(partition, start, window, OF_ALL, state);
            measured &= entries[partition] <= OF_ALL;
        }
        long events = Arrays.stream(events(entries, perEntry)).sum();
        return measured ? events <= limit : events <= limit / SURELY;
    }

    /** Whether all is more than the limit if entries go on as where they were read last: then a query catches up. */
    private boolean isMore(long limit, long[] entries) {
        return lastPerEntry.length == entries.length
                && IntStream.range(0, entries.length).allMatch(each -> entries[each] == 0 || lastPerEntry[each] > 0)
                && Arrays.stream(events(entries, lastPerEntry)).sum() > limit;
    }

    private static long[] events(long[] entries, double[] perEntry) {
        return IntStream.range(0, entries.length)
                .mapToLong(partition -> Math.round(entries[partition] * perEntry[partition])).toArray();
    }

    /** Events of an entry on average, by some of the first {@code entries} from a place on. */
    private double sampled(int partition, Place start, long entries, int samples, PartitionState state) {
        int number = (int) Math.min(entries, samples);
        List<Place> places = new ArrayList<>();
        for (int index = 0; index < number; index++) {
            places.add(state.ledgers().after(start, number == 1 ? 0 : index * (entries - 1) / (number - 1)));
        }
        return places.isEmpty() ? 1 : streams.eventsPerEntry(stream, partition, places);
    }

    /** What lies between two offsets: of a stream that was created anew in between, from its first event on. */
    @Override
    public InputPartition[] slices(PartitionOffsets from, PartitionOffsets to) {
        List<PartitionState> states = states(from);
        int planned = to.life().equals(life) ? to.partitions() : 0;
        for (int partition = states.size(); partition < planned; partition++) {
            dataLoss.missing(stream.topic(partition), to.next(partition, 0));
        }
        List<InputPartition> slices = new ArrayList<>();
        Optional<PartitionOffsets> begin = begin(from, to, states);
        if (begin.isEmpty()) {
            return new InputPartition[0];
        }
        for (int partition = 0; partition < Math.min(to.partitions(), states.size()); partition++) {
            PartitionState state = states.get(partition);
            long end = to.next(partition, 0);
            long start = begin.get().next(partition, 0);
            if (start == end) {
                continue;
            }
            if (start <= end && end > state.end()) {
                dataLoss.replaced(stream.topic(partition), end, state.end());
                start = state.head();
            } else {
                start = Math.max(start > end ? state.head() : present(partition, start, state), state.head());
            }
            end = Math.min(end, state.end());
            if (start < end && state.hasEvents(start, end)) {
                Place first = state.origin().place(start);
                Place last = state.origin().place(end);
                slices.add(new PartitionSlice(stream, partition, state.origin(), first, last,
                        state.ledgers().between(first, last)));
            }
        }
        return slices.toArray(InputPartition[]::new);
    }

    /** {@code lagEntries}: published batches of events that the stream holds beyond the last batch. */
    @Override
    public Map<String, String> metrics(PartitionOffsets consumed, List<PartitionState> states) {
        long lag = 0;
        for (int partition = 0; partition < states.size(); partition++) {
            PartitionState state = states.get(partition);
            lag += state.entriesBetween(consumed.next(partition, state.head()), state.end());
        }
        return Map.of("lagEntries", Long.toString(lag));
    }

    @Override
    public void close() {
        lease.close();
    }
}
