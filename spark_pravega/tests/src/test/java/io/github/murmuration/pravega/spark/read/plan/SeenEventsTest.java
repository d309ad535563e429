// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.StreamCutImpl;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is known of events without reading them; no server is asked. */
@Tag("core")
class SeenEventsTest {
    private static final Segment SEGMENT = new Segment("scope", "stream", 0);
    private final SeenEvents seen = new SeenEvents();

    @Test
    void tailsOfThePastAreBoundaries() {
        seen.tail(cut(100), cut(250));
        seen.tail(cut(100), cut(400));
        SegmentSlice slice = new SegmentSlice(SEGMENT, 100, 500);
        assertEquals(100, seen.lastBoundary(slice, 249));
        assertEquals(250, seen.lastBoundary(slice, 250));
        assertEquals(400, seen.lastBoundary(slice, 499));

        seen.tail(cut(300), cut(500));
        assertEquals(300, seen.lastBoundary(new SegmentSlice(SEGMENT, 300, 500), 399));
    }

    @Test
    void aBoundaryBeyondHalfOfWhatIsAllowedIsTakenWithoutReading() {
        seen.tail(cut(100), cut(250));
        SkipReader reader = new SkipReader(null, true, seen);
        SegmentSlice slice = new SegmentSlice(SEGMENT, 100, 1000);
        assertEquals(250, reader.offset(slice, 1, ReadBudget.UNLIMITED, 300));
        assertThrows(NullPointerException.class, () -> reader.offset(slice, 1, ReadBudget.UNLIMITED, 302));
        assertThrows(NullPointerException.class, () -> reader.offset(slice, 1, 1000, 300));
    }

    @Test
    void theSmallestEventsThatWereCountedTell() {
        assertEquals(SeenEvents.HEADER_BYTES, seen.leastBytes());
        seen.counted(10, 5000);
        seen.counted(10, 1000);
        seen.counted(0, 0);
        assertEquals(50, seen.leastBytes());
        seen.counted(10, 2000);
        for (int batch = 0; batch < 100; batch++) {
            assertEquals(100, seen.leastBytes());
        }
        assertEquals(SeenEvents.HEADER_BYTES, seen.leastBytes());
    }

    private static StreamCut cut(long offset) {
        return new StreamCutImpl(Stream.of("scope", "stream"), Map.of(SEGMENT, offset));
    }
}
