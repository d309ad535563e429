package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.NoSuchSegmentException;
import io.pravega.client.segment.impl.Segment;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The segments of a real stream, asked from Pravega. */
record StreamGraph(PravegaConnection connection, boolean failOnDataLoss) implements SegmentGraph {
    private static final Logger LOG = LoggerFactory.getLogger(StreamGraph.class);

    /** A segment that truncation has removed counts as read to its end, unless that is an error. */
    @Override
    public long length(Segment sealed) {
        try {
            return connection.length(sealed);
        } catch (NoSuchSegmentException truncated) {
            if (failOnDataLoss) {
                throw PravegaException.dataLoss(sealed, truncated);
            }
            LOG.warn("segment {} was truncated as a whole; what was not read of it is lost", sealed);
            return 0;
        }
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
