// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.pravega.client.segment.impl.Segment;
import java.util.Map;
import java.util.Set;

/** How the segments of a stream follow each other when it scales. */
public interface SegmentGraph {
    /** Offset after the last event of a segment that takes no more events. */
    long length(Segment sealed);

    /**
     * The segments that continue a sealed one, each with all that it continues; none of an open segment, at the end of
     * a sealed stream, and of a segment that the stream does not know.
     */
    Map<Segment, Set<Segment>> successors(Segment segment);
}
