// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.Waiting;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;

/** Bounds what is sent and not yet acknowledged, and remembers the first failure. */
public final class OutstandingBytes {
    private static final int LIMIT = 32 << 20;

    private final Semaphore free = new Semaphore(LIMIT);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** Waits until {@code bytes} more may be sent. An event above the limit is sent alone. */
    public int acquire(int bytes) throws InterruptedException {
        int permits = Math.min(bytes, LIMIT);
        free.acquire(permits);
        return permits;
    }

    public void releaseWhenDone(CompletableFuture<Void> acknowledgement, int permits) {
        acknowledgement.whenComplete((done, failed) -> {
            if (failed != null) {
                failure.compareAndSet(null, Waiting.cause(failed));
            }
            free.release(permits);
        });
    }

    /** @throws PravegaException if anything sent so far failed */
    public void throwIfFailed(String target) {
        Throwable cause = failure.get();
        if (cause != null) {
            throw new PravegaException("a write to " + target + " failed", cause);
        }
    }
}
