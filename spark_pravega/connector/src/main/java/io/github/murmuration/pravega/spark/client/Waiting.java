// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import io.github.murmuration.pravega.shaded.io.grpc.Status;
import io.github.murmuration.pravega.shaded.io.grpc.StatusRuntimeException;
import io.github.murmuration.pravega.spark.PravegaException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** Waits for Pravega's futures. */
public final class Waiting {
    private static final Set<Status.Code> REFUSALS =
            EnumSet.of(Status.Code.UNAUTHENTICATED, Status.Code.PERMISSION_DENIED);

    private Waiting() {
    }

    /**
     * The result of {@code future}. A failure is thrown as it is when unchecked, else wrapped.
     *
     * @throws UncheckedIOException if the thread is interrupted, in the form that Spark takes for an orderly stop
     */
    public static <T> T on(CompletableFuture<T> future) {
        try {
            return future.get();
        } catch (InterruptedException interrupted) {
            throw stopped();
        } catch (ExecutionException failed) {
            throw unchecked(failed.getCause());
        }
    }

    /**
     * The result of {@code future}.
     *
     * @throws PravegaException with {@code message} if there is none within {@code seconds}
     */
    public static <T> T on(CompletableFuture<T> future, long seconds, String message) {
        try {
            return on(future.copy().orTimeout(seconds, TimeUnit.SECONDS));
        } catch (PravegaException failed) {
            throw failed.getCause() instanceof TimeoutException ? new PravegaException(message, failed) : failed;
        }
    }

    public static void sleep(long duration, TimeUnit unit) {
        try {
            unit.sleep(duration);
        } catch (InterruptedException interrupted) {
            throw stopped();
        }
    }

    /** What failed in truth, without the wrappers that futures add. */
    public static Throwable cause(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    public static UncheckedIOException stopped() {
        return new UncheckedIOException(interrupted("waiting for Pravega"));
    }

    /** Tells of an interrupt that was caught, which the thread keeps. */
    public static InterruptedIOException interrupted(String whileDoing) {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("interrupted while " + whileDoing);
    }

    public static RuntimeException unchecked(Throwable failure) {
        Throwable cause = cause(failure);
        if (cause instanceof Error error) {
            throw error;
        }
        if (cause instanceof StatusRuntimeException answer && REFUSALS.contains(answer.getStatus().getCode())) {
            return PravegaException.refused(cause);
        }
        for (Throwable deeper = cause; deeper != null; deeper = deeper.getCause()) {
            if (deeper instanceof SSLException) {
                return PravegaException.untrusted(cause);
            }
        }
        return cause instanceof RuntimeException unchecked ? unchecked : new PravegaException(cause);
    }
}
