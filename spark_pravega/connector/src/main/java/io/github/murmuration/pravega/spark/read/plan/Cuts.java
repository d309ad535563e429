// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.StreamCutImpl;
import io.pravega.shared.NameUtils;
import java.util.HashMap;
import java.util.Map;

/** Arithmetic of stream cuts. */
public final class Cuts {
    private Cuts() {
    }

    /** The cut that is reached first; of segments that both contain, the smaller offset. */
    public static StreamCut earlier(StreamCut one, StreamCut other) {
        Map<Segment, Long> positions = new HashMap<>(one.asImpl().getPositions());
        Map<Segment, Long> others = other.asImpl().getPositions();
        if (!positions.keySet().equals(others.keySet())) {
            return epoch(one) <= epoch(other) ? one : other;
        }
        positions.replaceAll((segment, offset) -> Math.min(offset, others.get(segment)));
        return new StreamCutImpl(one.asImpl().getStream(), positions);
    }

    private static int epoch(StreamCut cut) {
        return cut.asImpl().getPositions().keySet().stream()
                .mapToInt(segment -> NameUtils.getEpoch(segment.getSegmentId())).max().orElse(0);
    }
}
