package io.github.murmuration.pravega.spark;

import java.util.concurrent.TimeUnit;

/** Tells when something can be closed: Spark does not say when a query, an executor or a read has come to its end. */
final class LastUse {
    private static final long IDLE_SECONDS = 30;

    private volatile long at = System.nanoTime();

    void now() {
        at = System.nanoTime();
    }

    boolean isLongAgo() {
        return System.nanoTime() - at >= TimeUnit.SECONDS.toNanos(IDLE_SECONDS);
    }
}
