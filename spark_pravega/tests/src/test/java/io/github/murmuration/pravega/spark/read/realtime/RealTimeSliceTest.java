// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.stream.StreamEpoch;
import io.github.murmuration.pravega.spark.read.plan.PravegaOffset;
import io.github.murmuration.pravega.spark.read.plan.SegmentGraph;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.StreamCutImpl;
import io.pravega.shared.NameUtils;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which segments a real-time batch reads, and how far it has read them. */
@Tag("core")
class RealTimeSliceTest {
    private static final Stream STREAM = Stream.of("scope", "stream");
    private static final Segment A = segment(0, 0);
    private static final Segment B = segment(1, 0);
    /** A is split. */
    private static final Segment A1 = segment(2, 1);
    private static final Segment A2 = segment(3, 1);
    private static final int SPLIT = 1;

    /** A, of 100 bytes, was split. */
    private final SegmentGraph graph = new SegmentGraph() {
        @Override
        public long length(Segment sealed) {
            assertEquals(A, sealed);
            return 100;
        }

        @Override
        public Map<Segment, Set<Segment>> successors(Segment sealed) {
            assertEquals(A, sealed);
            return Map.of(A1, Set.of(A), A2, Set.of(A));
        }
    };

    @Test
    void openSegmentsAreReadFromWhereTheLastBatchEnded() {
        assertArrayEquals(new RealTimeSlice[] {new RealTimeSlice(A, 10, 0, 2), new RealTimeSlice(B, 0, 0, 2)},
                RealTimeSlice.plan(cut(Map.of(A, 10L, B, 0L)), cut(Map.of(A, 30L, B, 20L)), 0, graph));
    }

    @Test
    void whatComesAfterASealedSegmentWaitsUntilThatIsRead() {
        StreamCut ends = cut(Map.of(A1, 5L, A2, 0L, B, 20L));
        assertArrayEquals(new RealTimeSlice[] {
                        new RealTimeSlice(A, 10, RealTimeSlice.BEHIND, 2),
                        new RealTimeSlice(B, 20, RealTimeSlice.BEHIND, 2)},
                RealTimeSlice.plan(cut(Map.of(A, 10L, B, 20L)), ends, SPLIT, graph));
        assertArrayEquals(new RealTimeSlice[] {
                        new RealTimeSlice(B, 20, SPLIT, 3),
                        new RealTimeSlice(A1, 0, SPLIT, 3),
                        new RealTimeSlice(A2, 0, SPLIT, 3)},
                RealTimeSlice.plan(cut(Map.of(A, 100L, B, 20L)), ends, SPLIT, graph));
    }

    /** The end of a sealed stream: nothing is behind, so its batches last as long as others, although none reads. */
    @Test
    void theEndOfASealedStreamIsNoReasonForShortBatches() {
        StreamCut end = cut(Map.of(A1, 5L, B, 20L));
        assertArrayEquals(new RealTimeSlice[] {
                        new RealTimeSlice(B, 20, StreamEpoch.SEALED, 2),
                        new RealTimeSlice(A1, 5, StreamEpoch.SEALED, 2)},
                RealTimeSlice.plan(end, end, StreamEpoch.SEALED, graph));
    }

    @Test
    void allTasksTogetherTellHowFarTheBatchHasRead() {
        RealTimeSlice[] slices =
                RealTimeSlice.plan(cut(Map.of(A, 10L, B, 0L)), cut(Map.of(A, 30L, B, 20L)), 0, graph);
        PravegaOffset merged =
                RealTimeOffset.merge(STREAM, new PartitionOffset[] {slices[0].at(40), slices[1].at(30)});
        assertEquals(new PravegaOffset(cut(Map.of(A, 40L, B, 30L))), merged);
    }

    @Test
    void aTaskThatTellsNothingIsAnError() {
        RealTimeSlice slice = new RealTimeSlice(A, 10, 0, 2);
        for (PartitionOffset[] offsets : List.of(new PartitionOffset[] {slice.at(40)}, new PartitionOffset[0])) {
            assertThrows(PravegaException.class, () -> RealTimeOffset.merge(STREAM, offsets));
        }
    }

    @Test
    void theEpochOfAStreamIsAskedWithoutWaiting() {
        AtomicInteger asked = new AtomicInteger();
        AtomicReference<CompletableFuture<Collection<Segment>>> answer =
                new AtomicReference<>(CompletableFuture.completedFuture(List.of(A, B)));
        StreamEpoch epoch = new StreamEpoch(() -> {
            asked.incrementAndGet();
            return answer.get();
        });
        assertEquals(0, epoch.current());
        answer.set(new CompletableFuture<>());
        long limit = System.nanoTime() + 1_000_000_000L;
        while (System.nanoTime() < limit) {
            assertEquals(0, epoch.latest());
        }
        assertEquals(2, asked.get(), "the second answer is awaited before it is asked a third time");
        answer.get().complete(List.of(A1, A2, B));
        assertEquals(SPLIT, epoch.latest());
    }

    @Test
    void itGoesOnWhenTheControllerIsAwayAndEndsWithTheStream() throws Exception {
        AtomicReference<CompletableFuture<Collection<Segment>>> answer = new AtomicReference<>();
        StreamEpoch epoch = new StreamEpoch(answer::get);
        answer.set(CompletableFuture.failedFuture(new IllegalStateException("away")));
        Thread.sleep(300);
        assertEquals(0, epoch.latest());
        answer.set(CompletableFuture.completedFuture(List.of()));
        Thread.sleep(300);
        assertTrue(epoch.latest() == StreamEpoch.SEALED && epoch.current() == StreamEpoch.SEALED);
    }

    private static Segment segment(int number, int epoch) {
        return new Segment("scope", "stream", NameUtils.computeSegmentId(number, epoch));
    }

    private static StreamCut cut(Map<Segment, Long> positions) {
        return new StreamCutImpl(STREAM, positions);
    }
}
