// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.StreamCutImpl;
import io.pravega.shared.NameUtils;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("core")
class FrontierTest {
    private static final Segment A = segment(0, 0);
    private static final Segment B = segment(1, 0);
    /** A is split. */
    private static final Segment A1 = segment(2, 1);
    private static final Segment A2 = segment(3, 1);
    /** A2 and B are merged. */
    private static final Segment M = segment(4, 2);

    private final Map<Segment, Long> lengths = new HashMap<>();
    private final Map<Segment, Map<Segment, Set<Segment>>> successors = new HashMap<>();
    private final SegmentGraph graph = new SegmentGraph() {
        @Override
        public long length(Segment sealed) {
            return lengths.get(sealed);
        }

        @Override
        public Map<Segment, Set<Segment>> successors(Segment sealed) {
            return successors.getOrDefault(sealed, Map.of());
        }
    };

    @Test
    void openSegmentsAreReadToTheTarget() {
        Frontier frontier = Frontier.at(cut(A, 10, B, 0));
        assertEquals(List.of(new SegmentSlice(A, 10, 30)), frontier.slices(cut(A, 30, B, 0), graph));
    }

    @Test
    void aSplitIsReadAfterItsPredecessor() {
        seal(A, 100, Map.of(A1, Set.of(A), A2, Set.of(A)));
        assertEquals(List.of(
                        Set.of("A 20-100", "B 5-50"),
                        Set.of("A1 0-7", "A2 0-8")),
                steps(cut(A, 20, B, 5), cut(A1, 7, A2, 8, B, 50)));
    }

    @Test
    void aMergeWaitsForAllItsPredecessors() {
        seal(A2, 10, Map.of(M, Set.of(A2, B)));
        seal(B, 20, Map.of(M, Set.of(A2, B)));
        StreamCut target = cut(A1, 5, M, 9);
        Frontier frontier = Frontier.at(cut(A1, 5, A2, 10, B, 3));
        assertEquals(cut(A1, 5, A2, 10, B, 3), frontier.pastSealed(target, graph).cut());
        assertEquals(List.of(Set.of("B 3-20"), Set.of("M 0-9")), steps(frontier.cut(), target));
    }

    @Test
    void aTargetBeforeAScaleIsNotPassed() {
        seal(A, 100, Map.of(A1, Set.of(A), A2, Set.of(A)));
        assertEquals(List.of(Set.of("A 0-100")), steps(cut(A, 0, B, 50), cut(A, 100, B, 50)));
    }

    /** B was split in epoch 2 into N1 and N2, A1 afterwards into O1 and O2: epoch 3. */
    @Test
    void aTargetThatIsPartlyPassedIsNotReadBeyond() {
        Segment n1 = segment(5, 2);
        Segment n2 = segment(6, 2);
        Segment o1 = segment(7, 3);
        seal(A, 100, Map.of(A1, Set.of(A), A2, Set.of(A)));
        seal(A1, 60, Map.of(o1, Set.of(A1)));
        seal(B, 20, Map.of(n1, Set.of(B), n2, Set.of(B)));
        Frontier frontier = Frontier.at(cut(A1, 10, A2, 0, B, 5));
        StreamCut target = cut(A, 100, n1, 7, n2, 8);
        assertEquals(List.of(new SegmentSlice(B, 5, 20)), frontier.slices(target, graph));
    }

    @Test
    void aSegmentThatTheStreamDoesNotKnowLeadsNowhere() {
        seal(A, 100, Map.of(A1, Set.of(A), A2, Set.of(A)));
        StreamCut target = cut(A1, 7, A2, 8, B, 50);
        assertTrue(Frontier.at(cut(A, 20, B, 5)).leadsTo(target, graph));
        assertFalse(Frontier.at(cut(segment(9, 0), 20)).leadsTo(target, graph));
        assertFalse(Frontier.at(cut(A1, 0, A2, 0, B, 5)).leadsTo(cut(A, 100, B, 5), graph));
    }

    @Test
    void aSealedStreamIsReadToItsEnd() {
        seal(A, 100, Map.of());
        seal(B, 0, Map.of());
        assertEquals(List.of(Set.of("A 40-100")), steps(cut(A, 40, B, 0), cut()));
    }

    private List<Set<String>> steps(StreamCut start, StreamCut target) {
        List<Set<String>> steps = new ArrayList<>();
        Frontier frontier = Frontier.at(start).pastSealed(target, graph);
        List<SegmentSlice> slices = frontier.slices(target, graph);
        while (!slices.isEmpty()) {
            Set<String> named = new TreeSet<>();
            slices.forEach(slice -> named.add(name(slice.segment()) + " " + slice.start() + "-" + slice.end()));
            steps.add(named);
            frontier = frontier.after(slices).pastSealed(target, graph);
            slices = frontier.slices(target, graph);
        }
        return steps;
    }

    private void seal(Segment segment, long length, Map<Segment, Set<Segment>> next) {
        lengths.put(segment, length);
        successors.put(segment, next);
    }

    private static String name(Segment segment) {
        return Map.of(A, "A", B, "B", A1, "A1", A2, "A2", M, "M").get(segment);
    }

    private static Segment segment(int number, int epoch) {
        return new Segment("scope", "stream", NameUtils.computeSegmentId(number, epoch));
    }

    private static StreamCut cut(Object... positions) {
        Map<Segment, Long> map = new HashMap<>();
        for (int index = 0; index < positions.length; index += 2) {
            map.put((Segment) positions[index], ((Number) positions[index + 1]).longValue());
        }
        return new StreamCutImpl(Stream.of("scope", "stream"), map);
    }
}
