// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.StreamCutImpl;
import io.pravega.shared.NameUtils;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Positions in a stream, from which reading goes on towards a target cut.
 *
 * <p>A frontier covers every routing key once. Reading goes to the end of its segments; only then sealed segments are
 * replaced by their successors. So no slice of one step contains events that follow others of the same step, and the
 * order of each routing key is kept from step to step, however often the stream scales.
 */
public final class Frontier {
    private final Stream stream;
    private final Map<Segment, Long> positions;

    private Frontier(Stream stream, Map<Segment, Long> positions) {
        this.stream = stream;
        this.positions = positions;
    }

    public static Frontier at(StreamCut cut) {
        return new Frontier(cut.asImpl().getStream(), cut.asImpl().getPositions());
    }

    public StreamCut cut() {
        return new StreamCutImpl(stream, positions);
    }

    /** Whether reading from here comes to the target; not from behind it, nor from a stream that was deleted since. */
    boolean leadsTo(StreamCut target, SegmentGraph graph) {
        Set<Segment> ends = target.asImpl().getPositions().keySet();
        return positions.keySet().stream()
                .allMatch(segment -> ends.contains(segment) || isBefore(segment, target, graph));
    }

    /** What can be read from here in one step, empty slices left out. */
    List<SegmentSlice> slices(StreamCut target, SegmentGraph graph) {
        List<SegmentSlice> slices = new ArrayList<>();
        positions.forEach((segment, start) -> {
            long end = end(segment, start, target, graph);
            if (end > start) {
                slices.add(new SegmentSlice(segment, start, end));
            }
        });
        return slices;
    }

    /** The frontier after the given slices, which begin here, are read. */
    Frontier after(List<SegmentSlice> slices) {
        Map<Segment, Long> moved = new HashMap<>(positions);
        slices.forEach(slice -> moved.put(slice.segment(), slice.end()));
        return new Frontier(stream, moved);
    }

    /** The same frontier, with segments that are sealed and read to their end replaced by their successors. */
    public Frontier pastSealed(StreamCut target, SegmentGraph graph) {
        Map<Segment, Map<Segment, Set<Segment>>> finished = finished(target, graph);
        if (finished.isEmpty()) {
            return this;
        }
        Map<Segment, Long> next = new HashMap<>(positions);
        finished.forEach((segment, successors) -> {
            next.remove(segment);
            successors.keySet().forEach(successor -> next.put(successor, 0L));
        });
        return new Frontier(stream, next).pastSealed(target, graph);
    }

    /** Finished segments with their successors, without those whose successors continue an unfinished one too. */
    private Map<Segment, Map<Segment, Set<Segment>>> finished(StreamCut target, SegmentGraph graph) {
        Map<Segment, Map<Segment, Set<Segment>>> finished = new HashMap<>();
        positions.forEach((segment, position) -> {
            if (isBefore(segment, target, graph) && position >= graph.length(segment)) {
                Map<Segment, Set<Segment>> successors = graph.successors(segment);
                if (!successors.isEmpty()) {
                    finished.put(segment, successors);
                }
            }
        });
        boolean changed = true;
        while (changed) {
            Set<Segment> complete = new HashSet<>(finished.keySet());
            changed = finished.values().removeIf(successors ->
                    successors.values().stream().anyMatch(continued -> !complete.containsAll(continued)));
        }
        return finished;
    }

    private static long end(Segment segment, long start, StreamCut target, SegmentGraph graph) {
        Long end = target.asImpl().getPositions().get(segment);
        if (end != null) {
            return Math.max(start, end);
        }
        return isBefore(segment, target, graph) ? graph.length(segment) : start;
    }

    /** Whether the target lies behind the end of this segment, which is sealed then: one of it continues this one. */
    private static boolean isBefore(Segment segment, StreamCut target, SegmentGraph graph) {
        Set<Segment> ends = target.asImpl().getPositions().keySet();
        if (ends.isEmpty() || ends.contains(segment)) {
            return ends.isEmpty();
        }
        int lastEpoch = ends.stream().mapToInt(end -> NameUtils.getEpoch(end.getSegmentId())).max().getAsInt();
        Set<Segment> seen = new HashSet<>();
        Deque<Segment> next = new ArrayDeque<>(List.of(segment));
        while (!next.isEmpty()) {
            Segment reached = next.pop();
            if (ends.contains(reached)) {
                return true;
            }
            if (NameUtils.getEpoch(reached.getSegmentId()) < lastEpoch && seen.add(reached)) {
                graph.successors(reached).keySet().forEach(next::push);
            }
        }
        return false;
    }
}
