// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import io.pravega.client.segment.impl.Segment;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("core")
class ReadBudgetTest {
    private static final int EVENT = 100;
    /** A stream whose events all take {@link #EVENT} bytes. */
    private static final ReadBudget.Boundaries EQUAL_EVENTS = (slice, atLeast, events, bytes) ->
            slice.start() + EVENT * Math.max(atLeast, Math.min(Math.min(events, bytes / EVENT), slice.bytes() / EVENT));

    private final List<SegmentSlice> slices = List.of(slice(0, 1000), slice(1, 3000));

    @Test
    void withoutALimitAllIsRead() {
        assertSame(slices, limited(ReadLimit.allAvailable()));
    }

    @Test
    void eventsAreSharedInProportion() {
        assertEquals(List.of(slice(1, 1500), slice(0, 500)),
                limited(ReadLimit.maxRows(20)));
    }

    @Test
    void bytesAreSharedInProportion() {
        assertEquals(List.of(slice(1, 1500), slice(0, 500)),
                limited(ReadLimit.maxBytes(2000)));
    }

    @Test
    void theSmallerLimitCounts() {
        ReadLimit both = ReadLimit.compositeLimit(new ReadLimit[] {ReadLimit.maxRows(4), ReadLimit.maxBytes(2000)});
        assertEquals(List.of(slice(1, 300), slice(0, 100)), limited(both));
    }

    @Test
    void oneEventIsReadHoweverLargeItIs() {
        assertEquals(List.of(slice(1, 100)), limited(ReadLimit.maxBytes(1)));
        assertEquals(List.of(slice(1, 100)), limited(ReadLimit.maxRows(1)));
    }

    /** Segment 0 holds one event of 900 bytes; segment 1 has ever more of 100. */
    @Test
    void aLargeEventOfASmallSegmentHasItsTurn() {
        ReadBudget.Boundaries boundaries = (slice, atLeast, events, bytes) -> {
            long size = slice.segment().getSegmentId() == 0 ? 900 : EVENT;
            return slice.start() + size * Math.max(atLeast, Math.min(events, bytes / size));
        };
        Turns turns = new Turns();
        ReadBudget budget = ReadBudget.of(ReadLimit.maxBytes(500));
        List<SegmentSlice> waiting = List.of(slice(0, 900), slice(1, 100_000));
        assertEquals(List.of(slice(1, 400)), budget.limit(waiting, boundaries, turns));
        assertTrue(budget.limit(waiting, boundaries, turns).contains(slice(0, 900)));
    }

    @Test
    void theOneEventThatIsAllowedIsTakenInTurn() {
        Turns turns = new Turns();
        ReadBudget budget = ReadBudget.of(ReadLimit.maxRows(1));
        assertEquals(List.of(slice(1, 100)), budget.limit(slices, EQUAL_EVENTS, turns));
        assertEquals(List.of(slice(0, 100)), budget.limit(slices, EQUAL_EVENTS, turns));
        assertEquals(List.of(slice(1, 100)), budget.limit(slices, EQUAL_EVENTS, turns));
    }

    /** 4000 bytes would be 500 events of no content. */
    @Test
    void whereEventsAreKnownToBeLargeNoneAreCounted() {
        ReadBudget.Boundaries known = new ReadBudget.Boundaries() {
            @Override
            public long offset(SegmentSlice slice, long atLeast, long events, long bytes) {
                throw new AssertionError("events are counted");
            }

            @Override
            public long leastBytes() {
                return EVENT / 2;
            }
        };
        assertSame(slices, ReadBudget.of(ReadLimit.maxRows(80)).limit(slices, known, new Turns()));
        assertThrows(AssertionError.class,
                () -> ReadBudget.of(ReadLimit.maxRows(79)).limit(slices, known, new Turns()));
    }

    @Test
    void segmentsAreReadSideBySide() {
        CyclicBarrier both = new CyclicBarrier(2);
        ReadBudget.Boundaries waiting = (slice, atLeast, events, bytes) -> {
            try {
                both.await(10, TimeUnit.SECONDS);
            } catch (Exception alone) {
                throw new AssertionError(alone);
            }
            return EQUAL_EVENTS.offset(slice, atLeast, events, bytes);
        };
        assertEquals(List.of(slice(1, 1500), slice(0, 500)),
                ReadBudget.of(ReadLimit.maxRows(20)).limit(slices, waiting, new Turns()));
    }

    private List<SegmentSlice> limited(ReadLimit limit) {
        return ReadBudget.of(limit).limit(slices, EQUAL_EVENTS, new Turns());
    }

    private static SegmentSlice slice(long segment, long end) {
        return new SegmentSlice(new Segment("scope", "stream", segment), 0, end);
    }
}
