// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import java.util.concurrent.TimeUnit;

/** Tells when something can be closed: Spark does not say when a query, an executor or a read has come to its end. */
public final class LastUse {
    private static final long IDLE_SECONDS = 30;

    private volatile long at = System.nanoTime();

    public void now() {
        at = System.nanoTime();
    }

    public boolean isLongAgo() {
        return System.nanoTime() - at >= TimeUnit.SECONDS.toNanos(IDLE_SECONDS);
    }
}
