// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client.stream;

import io.github.murmuration.pravega.spark.client.Waiting;
import io.pravega.client.segment.impl.Segment;
import io.pravega.shared.NameUtils;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * A number that grows whenever a stream scales, asked from the controller for all real-time readers of this JVM.
 *
 * <p>Readers of segments that stay open learn only in this way that a batch is to end. None of them waits for the
 * answer, so nothing is read later because the controller is slow or away.
 */
public final class StreamEpoch {
    /** The last one: a sealed stream does not scale. */
    public static final int SEALED = Integer.MAX_VALUE;
    private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final Supplier<CompletableFuture<Collection<Segment>>> open;
    private final AtomicInteger known = new AtomicInteger();
    private CompletableFuture<Integer> asked = CompletableFuture.completedFuture(0);
    private long askedAt = System.nanoTime();

    /** @param open asks for the segments that are open now */
    public StreamEpoch(Supplier<CompletableFuture<Collection<Segment>>> open) {
        this.open = open;
    }

    /** Asked now. */
    public int current() {
        return Waiting.on(ask());
    }

    /** The newest that is known; it is asked for, at most every 250 ms. */
    public synchronized int latest() {
        long now = System.nanoTime();
        if (asked.isDone() && now - askedAt >= INTERVAL_NANOS) {
            askedAt = now;
            asked = ask();
        }
        return known.get();
    }

    private CompletableFuture<Integer> ask() {
        return open.get().thenApply(segments -> known.accumulateAndGet(of(segments), Math::max));
    }

    private static int of(Collection<Segment> open) {
        return open.stream().mapToInt(segment -> NameUtils.getEpoch(segment.getSegmentId())).max().orElse(SEALED);
    }
}
