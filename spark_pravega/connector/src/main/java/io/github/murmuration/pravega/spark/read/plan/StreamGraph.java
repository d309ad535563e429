// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.pravega.client.segment.impl.NoSuchSegmentException;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.impl.SegmentWithRange;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The segments of a real stream, asked from Pravega; what does not change any more is asked once. */
public final class StreamGraph implements SegmentGraph {
    private static final Logger LOG = LoggerFactory.getLogger(StreamGraph.class);

    private final PravegaConnection connection;
    private final boolean failOnDataLoss;
    private final Map<Segment, Long> lengths = new ConcurrentHashMap<>();
    private final Map<Segment, Map<Segment, Set<Segment>>> successors = new ConcurrentHashMap<>();

    public StreamGraph(PravegaConnection connection, boolean failOnDataLoss) {
        this.connection = connection;
        this.failOnDataLoss = failOnDataLoss;
    }

    /** A segment that truncation has removed counts as read to its end, unless that is an error. */
    @Override
    public long length(Segment sealed) {
        try {
            return lengths.computeIfAbsent(sealed, connection.metadata()::length);
        } catch (NoSuchSegmentException truncated) {
            if (failOnDataLoss) {
                throw PravegaException.dataLoss(sealed, truncated);
            }
            LOG.warn("segment {} was truncated as a whole; what was not read of it is lost", sealed);
            return 0;
        }
    }

    @Override
    public Map<Segment, Set<Segment>> successors(Segment segment) {
        Map<Segment, Set<Segment>> known = successors.getOrDefault(segment, Map.of());
        if (known.isEmpty()) {
            known = ask(segment);
            successors.put(segment, known);
        }
        return known;
    }

    private Map<Segment, Set<Segment>> ask(Segment segment) {
        Map<SegmentWithRange, List<Long>> found =
                connection.metadata().successors(segment).getSegmentToPredecessor();
        return found.entrySet().stream().collect(Collectors.toMap(
                successor -> successor.getKey().getSegment(),
                successor -> successor.getValue().stream()
                        .map(id -> new Segment(segment.getScope(), segment.getStreamName(), id))
                        .collect(Collectors.toSet())));
    }
}
