// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.pravega.client.BatchClientFactory;
import io.pravega.client.ClientConfig;
import io.pravega.client.batch.SegmentIterator;
import io.pravega.client.batch.SegmentRange;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.UTF8StringSerializer;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a stream holds after a long query, and beside it what {@link SteadyWriter} wrote, read by Pravega's own client:
 * an event's first letter tells what it is, then comes its number.
 */
final class StreamContents {
    static final char KEYED = 'k';
    static final char KEYLESS = 'n';
    static final char BESIDE = 'b';
    private static final int FAULTS_TOLD = 20;

    /** Where an event begins. */
    private record Place(long segment, long offset) {
    }

    private final BitSet rows = new BitSet();
    private final BitSet beside = new BitSet();
    private final long[] lastOfKey = new long[PlannedEpoch.KEYS];
    private final Set<Long> sought;
    private final Map<Long, Place> places = new HashMap<>();
    private final List<String> faults = new ArrayList<>();

    /** @param sought rows of which {@link #isBefore} is to tell */
    StreamContents(String stream, Set<Long> sought) {
        this.sought = sought;
        Arrays.fill(lastOfKey, -1);
        ClientConfig config = ClientConfig.builder().controllerURI(URI.create(DurablePravega.controllerUri())).build();
        try (BatchClientFactory client = BatchClientFactory.withScope(DurablePravega.SCOPE, config)) {
            client.getSegments(Stream.of(DurablePravega.SCOPE, stream), StreamCut.UNBOUNDED, StreamCut.UNBOUNDED)
                    .getIterator().forEachRemaining(segment -> read(client, segment));
        }
    }

    /** What is wrong with it; the first of each kind are told, so that an empty list means: nothing. */
    List<String> faults(long rowsWritten, long writtenBeside) {
        List<String> all = new ArrayList<>(faults.subList(0, Math.min(FAULTS_TOLD, faults.size())));
        if (faults.size() > FAULTS_TOLD) {
            all.add(faults.size() + " faults like these");
        }
        tellMissing(all, "row", rows, rowsWritten);
        tellMissing(all, "event beside", beside, writtenBeside);
        return all;
    }

    /** @param ends of the segments by their ids, at some time: whether the row was there then */
    boolean isBefore(Map<Long, Long> ends, long row) {
        Place place = places.get(row);
        return place != null && place.offset() < ends.get(place.segment());
    }

    private void read(BatchClientFactory client, SegmentRange segment) {
        try (SegmentIterator<String> events = client.readSegment(segment, new UTF8StringSerializer())) {
            while (events.hasNext()) {
                long offset = events.getOffset();
                found(events.next(), new Place(segment.getSegmentId(), offset));
            }
        }
    }

    private void found(String event, Place place) {
        long number = Long.parseLong(event.substring(1).trim());
        if (event.charAt(0) == BESIDE) {
            once(beside, event, number, place);
            return;
        }
        once(rows, event, number, place);
        if (sought.contains(number)) {
            places.put(number, place);
        }
        if (event.charAt(0) == KEYED) {
            int key = (int) (number % PlannedEpoch.KEYS);
            if (number < lastOfKey[key]) {
                faults.add("row " + number + " comes after " + lastOfKey[key] + " of the same key: " + place);
            }
            lastOfKey[key] = number;
        }
    }

    private void once(BitSet seen, String event, long number, Place place) {
        if (seen.get((int) number)) {
            faults.add(event.trim() + " is there again: " + place);
        }
        seen.set((int) number);
    }

    /** As ranges: what is missing is mostly a whole epoch, or a task's part of it. */
    private static void tellMissing(List<String> faults, String what, BitSet seen, long written) {
        int told = 0;
        for (int from = seen.nextClearBit(0); from < written && told < FAULTS_TOLD; told++) {
            int next = seen.nextSetBit(from);
            int until = next < 0 ? (int) written : next;
            faults.add("%s %d to %d missing".formatted(what, from, until - 1));
            from = seen.nextClearBit(until);
        }
        if (seen.length() > written) {
            faults.add(what + " " + (seen.length() - 1) + " is beyond the end");
        }
    }
}
