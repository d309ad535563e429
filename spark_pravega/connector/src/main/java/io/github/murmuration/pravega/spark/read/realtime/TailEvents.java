// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import io.github.murmuration.pravega.spark.client.Waiting;
import io.pravega.client.segment.impl.EndOfSegmentException;
import io.pravega.client.segment.impl.EventSegmentReader;
import io.pravega.client.segment.impl.SegmentTruncatedException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The events of a segment, each as soon as it is there: the server answers a read at the end when there is more. */
final class TailEvents implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TailEvents.class);
    /** How often a reader that waits looks whether the stream has scaled. */
    private static final long LOOK_MS = 250;
    /** How much longer a reader goes on once it has: sealed segments have little left then, if the query keeps up. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final EventSegmentReader segment;
    private final int epoch;
    private final IntSupplier latestEpoch;
    private final ToLongFunction<SegmentTruncatedException> afterLoss;
    private boolean sealed;
    private boolean scaled;
    private long scaledAt;

    /**
     * @param epoch       the stream's: the events end early when {@code latestEpoch} is a later one
     * @param afterLoss   where to go on after a truncation, {@code Long.MAX_VALUE} if the segment is gone, or throws
     */
    TailEvents(EventSegmentReader segment, int epoch, IntSupplier latestEpoch,
            ToLongFunction<SegmentTruncatedException> afterLoss) {
        this.segment = segment;
        this.epoch = epoch;
        this.latestEpoch = latestEpoch;
        this.afterLoss = afterLoss;
    }

    /** The next event; null if none comes in time, or none is to be read any more. */
    ByteBuffer next(long timeoutMs) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        long left = timeoutMs;
        while (left > 0 && !isOver()) {
            ByteBuffer event = read(Math.min(left, LOOK_MS));
            if (event != null) {
                return event;
            }
            left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        }
        return null;
    }

    /** Where the next event begins. */
    long offset() {
        return segment.getOffset();
    }

    @Override
    public void close() {
        segment.close();
    }

    private boolean isOver() {
        if (!scaled && latestEpoch.getAsInt() > epoch) {
            scaled = true;
            scaledAt = System.nanoTime();
        }
        return scaled && (sealed || System.nanoTime() - scaledAt > LAST_NANOS);
    }

    private ByteBuffer read(long timeoutMs) {
        if (sealed) {
            Waiting.sleep(timeoutMs, TimeUnit.MILLISECONDS);
            return null;
        }
        try {
            return segment.read(timeoutMs);
        } catch (EndOfSegmentException end) {
            sealed = true;
        } catch (SegmentTruncatedException truncated) {
            passOverWhatIsGone(truncated);
        }
        return null;
    }

    private void passOverWhatIsGone(SegmentTruncatedException truncated) {
        long next = afterLoss.applyAsLong(truncated);
        LOG.warn("segment {} was truncated before it was read, from offset {} up to {}",
                segment.getSegmentId(), segment.getOffset(), next);
        sealed = next == Long.MAX_VALUE;
        if (!sealed) {
            segment.setOffset(next);
        }
    }
}
