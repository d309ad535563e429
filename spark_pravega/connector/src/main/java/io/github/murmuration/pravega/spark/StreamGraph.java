package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The segments of a real stream, asked from Pravega. */
record StreamGraph(PravegaConnection connection) implements SegmentGraph {
    @Override
    public long length(Segment sealed) {
        return connection.length(sealed);
    }

    @Override
    public Map<Segment, Set<Segment>> successors(Segment sealed) {
        return connection.successors(sealed).getSegmentToPredecessor().entrySet().stream().collect(Collectors.toMap(
                successor -> successor.getKey().getSegment(),
                successor -> successor.getValue().stream()
                        .map(id -> new Segment(sealed.getScope(), sealed.getStreamName(), id))
                        .collect(Collectors.toSet())));
    }
}
