// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.StreamCut;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * What earlier batches of a query tell of events that need not be read for it: where the stream's tail was, which is an
 * event boundary, and how large the events were.
 */
final class SeenEvents {
    /** Pravega stores eight bytes in front of every event. */
    static final int HEADER_BYTES = 8;
    /** Of a segment; further ones are not kept until these are read. */
    private static final int MOST_BOUNDARIES = 1_000;
    /** After so many estimates events are counted again. */
    private static final int ESTIMATES_OF_A_COUNT = 100;

    private final Map<Segment, NavigableSet<Long>> boundaries = new HashMap<>();
    private long averageBytes;
    private int estimatesLeft;

    /** @param start what lies before is forgotten */
    synchronized void tail(StreamCut start, StreamCut tail) {
        Map<Segment, Long> from = start.asImpl().getPositions();
        Map<Segment, Long> ends = tail.asImpl().getPositions();
        boundaries.keySet().removeIf(segment -> !from.containsKey(segment) && !ends.containsKey(segment));
        boundaries.forEach((segment, known) -> known.headSet(from.getOrDefault(segment, 0L)).clear());
        ends.forEach((segment, end) -> {
            NavigableSet<Long> known = boundaries.computeIfAbsent(segment, each -> new TreeSet<>());
            if (known.size() < MOST_BOUNDARIES) {
                known.add(end);
            }
        });
    }

    /** The last boundary of a slice that is known and not behind {@code limit}: its start, if there is none. */
    synchronized long lastBoundary(SegmentSlice slice, long limit) {
        NavigableSet<Long> known = boundaries.get(slice.segment());
        Long last = known == null ? null : known.floor(limit);
        return last == null ? slice.start() : Math.max(slice.start(), last);
    }

    /** Of the slices of one batch the one with the smallest events tells. */
    synchronized void counted(long events, long bytes) {
        if (events > 0) {
            long average = bytes / events;
            averageBytes = estimatesLeft == ESTIMATES_OF_A_COUNT ? Math.min(averageBytes, average) : average;
            estimatesLeft = ESTIMATES_OF_A_COUNT;
        }
    }

    /** Bytes that an event takes at least: half of what those took that were counted, as sizes vary. */
    synchronized long leastBytes() {
        if (estimatesLeft == 0) {
            return HEADER_BYTES;
        }
        estimatesLeft--;
        return Math.max(HEADER_BYTES, averageBytes / 2);
    }
}
