// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.client.Waiting;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Lets a commit that has begun come to its end although the query is stopped, which interrupts its thread at any point:
 * stopping would else leave half-committed epochs behind nearly as often as not.
 */
final class Uninterrupted {
    private static final long GRACE_SECONDS = 10;

    private Uninterrupted() {
    }

    /** Runs the task in a thread of its own; after an interruption it has {@value #GRACE_SECONDS} seconds left. */
    static <T> T call(Supplier<T> task) {
        CompletableFuture<T> done = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                done.complete(task.get());
            } catch (Throwable failure) { // goes to the waiting thread
                done.completeExceptionally(failure);
            }
        }, "pravega-commit");
        thread.setDaemon(true);
        thread.start();
        try {
            return done.get();
        } catch (InterruptedException interrupted) {
            T result = awaitEnd(done, thread);
            Thread.currentThread().interrupt();
            return result;
        } catch (ExecutionException failed) {
            throw Waiting.unchecked(failed);
        }
    }

    private static <T> T awaitEnd(CompletableFuture<T> done, Thread thread) {
        try {
            return done.get(GRACE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | TimeoutException givenUp) {
            thread.interrupt();
            throw Waiting.stopped();
        } catch (ExecutionException failed) {
            throw Waiting.unchecked(failed);
        }
    }
}
