// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import io.pravega.client.segment.impl.Segment;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Whose turn it is: no segment is passed over for ever because its next event is larger than its share of a batch. */
final class Turns {
    private final Map<Segment, Integer> passedOver = new HashMap<>();

    /** First what was passed over most often, then what is largest. */
    List<SegmentSlice> inOrder(List<SegmentSlice> slices) {
        return slices.stream().sorted(Comparator
                .<SegmentSlice>comparingInt(slice -> passedOver.getOrDefault(slice.segment(), 0))
                .thenComparingLong(SegmentSlice::bytes).reversed()).toList();
    }

    void given(List<SegmentSlice> slices, List<SegmentSlice> limited) {
        Set<Segment> served = new HashSet<>();
        limited.forEach(slice -> served.add(slice.segment()));
        Set<Segment> waiting = new HashSet<>();
        slices.stream().map(SegmentSlice::segment).filter(segment -> !served.contains(segment)).forEach(waiting::add);
        passedOver.keySet().retainAll(waiting);
        waiting.forEach(segment -> passedOver.merge(segment, 1, Integer::sum));
    }
}
