// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.client;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** How long a server that is away, as while it restarts, is waited for: a minute from the first failure on. */
public final class Patience {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long FIRST_PAUSE_MS = 20;
    private static final long LONGEST_PAUSE_MS = 500;

    private long failingSince = -1;
    private long pauseMs = FIRST_PAUSE_MS;

    /**
     * Repeats what may be repeated until it is answered.
     *
     * @param unanswered how it fails where it is not
     */
    public static <T> T until(Class<? extends RuntimeException> unanswered, Supplier<T> request) {
        Patience patience = new Patience();
        while (true) {
            try {
                return request.get();
            } catch (RuntimeException failed) {
                if (!unanswered.isInstance(failed)) {
                    throw failed;
                }
                patience.pauseAfter(failed);
            }
        }
    }

    /** It works again. */
    public void succeeded() {
        failingSince = -1;
        pauseMs = FIRST_PAUSE_MS;
    }

    /** Waits a little, or gives up and throws {@code failed}. */
    public void pauseAfter(RuntimeException failed) {
        long now = System.nanoTime();
        if (failingSince == -1) {
            failingSince = now;
        } else if (now - failingSince > LIMIT_NANOS) {
            throw failed;
        }
        try {
            Thread.sleep(pauseMs);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw failed;
        }
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
}
