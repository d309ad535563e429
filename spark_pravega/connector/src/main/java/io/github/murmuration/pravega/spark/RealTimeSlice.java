package io.github.murmuration.pravega.spark;

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
record RealTimeSlice(Segment segment, long start, int epoch, int ofAll) implements InputPartition {
    /** Earlier than any: the stream has scaled already, and what comes after its sealed segments waits for them. */
    static final int BEHIND = -1;

    static RealTimeSlice[] plan(StreamReads reads, StreamCut start) {
        int epoch = reads.connection().metadata().epoch(reads.stream()).current(); // first: what scales from now on is noticed
        return plan(start, reads.end(), epoch, new StreamGraph(reads.connection(), reads.failOnDataLoss()));
    }

    static RealTimeSlice[] plan(StreamCut start, StreamCut ends, int epoch, SegmentGraph graph) {
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
