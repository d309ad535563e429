// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import io.github.murmuration.pravega.spark.read.plan.Frontier;
import io.github.murmuration.pravega.spark.read.plan.SegmentGraph;
import io.github.murmuration.pravega.spark.read.plan.StreamGraph;
import io.github.murmuration.pravega.spark.read.plan.StreamReads;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.StreamCut;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * A segment that one task of a real-time batch reads, from an offset on.
 *
 * <p>All tasks of a batch end when its time is over, or when the stream has scaled: what comes after a sealed segment
 * is read in the next batch, once all that was read of the segment is written. So each routing key keeps its order.
 *
 * @param epoch the stream's, when the batch was planned: the batch ends early when a later one is known
 * @param ofAll number of slices of the batch
 */
public record RealTimeSlice(Segment segment, long start, int epoch, int ofAll) implements InputPartition {
    /** Earlier than any: the stream has scaled already, and what comes after its sealed segments waits for them. */
    static final int BEHIND = -1;

    public static RealTimeSlice[] plan(StreamReads reads, StreamCut start) {
        // First: what scales from now on is noticed.
        int epoch = reads.connection().metadata().epoch(reads.stream()).current();
        return plan(start, reads.end(), epoch, new StreamGraph(reads.connection(), reads.failOnDataLoss()));
    }

    public static RealTimeSlice[] plan(StreamCut start, StreamCut ends, int epoch, SegmentGraph graph) {
        Map<Segment, Long> positions =
                new TreeMap<>(Frontier.at(start).pastSealed(ends, graph).cut().asImpl().getPositions());
        Map<Segment, Long> open = ends.asImpl().getPositions();
        boolean behind = positions.entrySet().stream().anyMatch(
                each -> !open.containsKey(each.getKey()) && each.getValue() < graph.length(each.getKey()));
        return positions.entrySet().stream()
                .map(each -> new RealTimeSlice(
                        each.getKey(), each.getValue(), behind ? BEHIND : epoch, positions.size()))
                .toArray(RealTimeSlice[]::new);
    }

    RealTimeOffset at(long position) {
        return new RealTimeOffset(segment, position, ofAll);
    }
}
