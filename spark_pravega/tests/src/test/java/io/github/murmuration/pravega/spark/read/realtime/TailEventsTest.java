// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.pravega.client.segment.impl.EndOfSegmentException;
import io.pravega.client.segment.impl.EventSegmentReader;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.segment.impl.SegmentTruncatedException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When the events of a segment that is read as it grows come to an end. */
@Tag("core")
class TailEventsTest {
    private static final Segment SEGMENT = new Segment("scope", "stream", 0);

    private final Growing segment = new Growing();
    private int epoch;
    private final TailEvents events = new TailEvents(segment, 0, () -> epoch, truncated -> {
        throw PravegaException.dataLoss(SEGMENT, truncated);
    });

    @Test
    void whatIsThereIsReadAndWhatIsNotIsAwaited() {
        segment.events.add("first");
        assertEquals("first", text(events.next(1000)));
        assertEquals(13, events.offset());
        assertTrue(taken(() -> assertNull(events.next(100))) >= 90);
        segment.events.add("second");
        assertEquals("second", text(events.next(1000)));
    }

    @Test
    void nothingIsReadWithoutTime() {
        segment.events.add("first");
        assertNull(events.next(0));
    }

    @Test
    void atTheEndOfASealedSegmentTheNextOneIsAwaited() {
        segment.sealed = true;
        assertTrue(taken(() -> assertNull(events.next(400))) >= 390);
        epoch = 1;
        assertTrue(taken(() -> assertNull(events.next(60_000))) < 100);
    }

    @Test
    void aSealedSegmentIsReadToItsEndAlthoughTheStreamHasScaled() {
        epoch = 1;
        segment.sealed = true;
        segment.events.add("last");
        assertEquals("last", text(events.next(60_000)));
        assertTrue(taken(() -> assertNull(events.next(60_000))) < 100);
    }

    @Test
    void aSegmentThatStaysOpenIsNotReadLongAfterTheStreamHasScaled() {
        assertTrue(taken(() -> {
            assertNull(events.next(10));
            epoch = 1;
            assertNull(events.next(60_000));
        }) < 2000);
    }

    @Test
    void notEvenIfEventsNeverEnd() {
        segment.events.add("one of many");
        segment.endless = true;
        epoch = 1;
        assertTrue(taken(() -> {
            while (events.next(60_000) != null) {
                Waiting.sleep(1, TimeUnit.MILLISECONDS);
            }
        }) < 2000);
    }

    @Test
    void aTruncationIsAnError() {
        segment.truncatedUpTo = 50;
        String message = assertThrows(PravegaException.class, () -> events.next(1000)).getMessage();
        assertTrue(message.contains("fail_on_data_loss"), message);
    }

    @Test
    void orWhatIsLeftIsRead() {
        segment.truncatedUpTo = 50;
        segment.events.add("left");
        TailEvents left = new TailEvents(segment, 0, () -> epoch, truncated -> 50);
        assertEquals("left", text(left.next(1000)));
        assertEquals(62, left.offset());
    }

    @Test
    void aSegmentThatIsGoneIsASealedOne() {
        segment.truncatedUpTo = 50;
        TailEvents gone = new TailEvents(segment, 0, () -> epoch, truncated -> Long.MAX_VALUE);
        assertNull(gone.next(100));
        epoch = 1;
        assertTrue(taken(() -> assertNull(gone.next(60_000))) < 100);
    }

    private static String text(ByteBuffer event) {
        return new String(event.array());
    }

    private static long taken(Runnable run) {
        long start = System.nanoTime();
        run.run();
        return Duration.ofNanos(System.nanoTime() - start).toMillis();
    }

    /** A segment in memory. */
    private static final class Growing implements EventSegmentReader {
        private final Queue<String> events = new ArrayDeque<>();
        private boolean sealed;
        private boolean endless;
        private long truncatedUpTo;
        private long offset;

        @Override
        public ByteBuffer read(long timeoutMs) throws EndOfSegmentException, SegmentTruncatedException {
            if (offset < truncatedUpTo) {
                throw new SegmentTruncatedException();
            }
            String event = endless ? events.peek() : events.poll();
            if (event == null) {
                if (sealed) {
                    throw new EndOfSegmentException();
                }
                Waiting.sleep(timeoutMs, TimeUnit.MILLISECONDS);
                return null;
            }
            offset += 8 + event.length();
            return ByteBuffer.wrap(event.getBytes());
        }

        @Override
        public Segment getSegmentId() {
            return SEGMENT;
        }

        @Override
        public void setOffset(long position, boolean resend) {
            offset = position;
        }

        @Override
        public long getOffset() {
            return offset;
        }

        @Override
        public CompletableFuture<?> fillBuffer() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isSegmentReady() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}
