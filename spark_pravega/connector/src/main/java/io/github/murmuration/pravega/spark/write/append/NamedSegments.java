// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.impl.SegmentWithRange;
import io.pravega.client.stream.impl.StreamSegments;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The segments that a query's record names for its small epochs, and what of an epoch goes to which of them. That
 * depends on nothing but these names and the epoch's rows: so it is the same when the epoch comes again, though the
 * stream may have other segments by then.
 *
 * @param segments in the order of their key ranges, in which epochs take turns that go to one segment as a whole
 * @param ends of the key ranges, if the rows of an epoch are spread over the segments by their keys; else none
 */
public record NamedSegments(List<Segment> segments, List<Double> ends) {
    public static final NamedSegments NONE = new NamedSegments(List.of(), List.of());

    /** All of a stream. */
    public static NamedSegments of(StreamSegments stream, boolean spread) {
        List<Segment> segments = List.copyOf(stream.getSegments());
        List<Double> ends = new ArrayList<>();
        double first = 0;
        for (Segment segment : spread && segments.size() > 1 ? segments : List.<Segment>of()) {
            double end = lastOfRange(stream, segment, first);
            ends.add(end);
            first = Math.nextUp(end);
        }
        return new NamedSegments(segments, List.copyOf(ends));
    }

    /** Pravega's client tells a range only by what lies in it. Positive doubles have the order of their bits. */
    private static double lastOfRange(StreamSegments stream, Segment segment, double first) {
        long within = Double.doubleToLongBits(first);
        long beyond = Double.doubleToLongBits(1) + 1;
        while (beyond - within > 1) {
            long middle = within + (beyond - within) / 2;
            if (stream.getSegmentForKey(Double.longBitsToDouble(middle)).equals(segment)) {
                within = middle;
            } else {
                beyond = middle;
            }
        }
        return Double.longBitsToDouble(within);
    }

    /** Whether all of these streams, which may be just one, is the one of these segments. */
    public boolean areOf(List<String> streams) {
        return segments.stream().allMatch(segment -> streams.equals(List.of(segment.getStreamName())));
    }

    public boolean areSpread() {
        return !ends.isEmpty();
    }

    /** Whether everything that goes to {@code others} is found by who knows these. */
    public boolean include(NamedSegments others) {
        return segments.equals(others.segments) && (!others.areSpread() || ends.equals(others.ends));
    }

    /** Where an epoch goes as a whole, and its rows without a key. */
    Segment inTurn(long epoch) {
        return segments.get((int) (epoch % segments.size()));
    }

    /** Those that may hold something of an epoch. */
    public Collection<Segment> of(long epoch) {
        return areSpread() || segments.isEmpty() ? segments : List.of(inTurn(epoch));
    }

    /** What each segment gets of an epoch, as it lies there; a segment that gets nothing is left out. */
    public Map<Segment, ByteBuffer> parts(List<KeptEvents> tasks, long epoch) {
        if (!areSpread()) {
            return Map.of(inTurn(epoch), KeptEvents.inSegment(tasks));
        }
        Map<Segment, ByteBuffer> parts = new HashMap<>();
        split(tasks, epoch).forEach((segment, events) -> parts.put(segment, ByteBuffer.wrap(events.framed())));
        return parts;
    }

    /** What of an epoch is in none of the segments {@code holding} a part of it. */
    public List<KeptEvents> rest(List<KeptEvents> tasks, long epoch, Set<Segment> holding) {
        Map<Segment, KeptEvents> parts = split(tasks, epoch);
        parts.keySet().removeAll(holding);
        return new ArrayList<>(parts.values());
    }

    /** Rows of one key stay in their order: task by task, and in each task as they came. */
    private Map<Segment, KeptEvents> split(List<KeptEvents> tasks, long epoch) {
        StreamSegments ranges = ranges();
        Map<Segment, KeptEvents.Builder> builders = new HashMap<>();
        for (KeptEvents task : tasks) {
            KeptEvents.Reader events = task.read();
            while (events.next()) {
                String key = events.routingKey();
                Segment segment = key == null ? inTurn(epoch) : ranges.getSegmentForKey(key);
                builders.computeIfAbsent(segment, absent -> new KeptEvents.Builder(task.stream()))
                        .add(key, events.event());
            }
        }
        Map<Segment, KeptEvents> parts = new HashMap<>();
        builders.forEach((segment, builder) -> parts.put(segment, builder.build()));
        return parts;
    }

    private StreamSegments ranges() {
        NavigableMap<Double, SegmentWithRange> byEnd = new TreeMap<>();
        for (int index = 0; index < ends.size(); index++) {
            byEnd.put(ends.get(index), new SegmentWithRange(segments.get(index), null));
        }
        return new StreamSegments(byEnd);
    }
}
