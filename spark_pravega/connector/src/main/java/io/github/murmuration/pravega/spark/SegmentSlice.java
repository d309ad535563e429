package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import java.io.Serializable;

/** The events of a segment from offset {@code start} up to, not including, offset {@code end}; both event boundaries. */
record SegmentSlice(Segment segment, long start, long end) implements Serializable {
    long bytes() {
        return end - start;
    }

    SegmentSlice upTo(long offset) {
        return new SegmentSlice(segment, start, offset);
    }
}
