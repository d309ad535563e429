package io.github.murmuration.pravega.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.pravega.client.segment.impl.Segment;
import java.util.List;
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
        assertSame(slices, ReadBudget.of(ReadLimit.allAvailable()).limit(slices, EQUAL_EVENTS));
    }

    @Test
    void eventsAreSharedInProportion() {
        assertEquals(List.of(slice(1, 1500), slice(0, 500)),
                ReadBudget.of(ReadLimit.maxRows(20)).limit(slices, EQUAL_EVENTS));
    }

    @Test
    void bytesAreSharedInProportion() {
        assertEquals(List.of(slice(1, 1500), slice(0, 500)),
                ReadBudget.of(ReadLimit.maxBytes(2000)).limit(slices, EQUAL_EVENTS));
    }

    @Test
    void theSmallerLimitCounts() {
        ReadLimit both = ReadLimit.compositeLimit(new ReadLimit[] {ReadLimit.maxRows(4), ReadLimit.maxBytes(2000)});
        assertEquals(List.of(slice(1, 300), slice(0, 100)), ReadBudget.of(both).limit(slices, EQUAL_EVENTS));
    }

    @Test
    void oneEventIsReadHoweverLargeItIs() {
        assertEquals(List.of(slice(1, 100)), ReadBudget.of(ReadLimit.maxBytes(1)).limit(slices, EQUAL_EVENTS));
        assertEquals(List.of(slice(1, 100)), ReadBudget.of(ReadLimit.maxRows(1)).limit(slices, EQUAL_EVENTS));
    }

    private static SegmentSlice slice(long segment, long end) {
        return new SegmentSlice(new Segment("scope", "stream", segment), 0, end);
    }
}
