// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.segment;

import io.pravega.client.segment.impl.Segment;
import java.io.Serializable;

/** The events of a segment from offset {@code start} up to but not including {@code end}; both event boundaries. */
public record SegmentSlice(Segment segment, long start, long end) implements Serializable {
    public long bytes() {
        return end - start;
    }

    public SegmentSlice upTo(long offset) {
        return new SegmentSlice(segment, start, offset);
    }
}
