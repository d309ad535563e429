// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/** Does the same for several things at once, in threads that end with it. */
public final class SideBySide {
    private static final int MOST_THREADS = 16;

    private SideBySide() {
    }

    /** The results, in the order of the items; of several failures the first item's. */
    public static <T, R> List<R> map(List<T> items, Function<T, R> work) {
        if (items.size() < 2) {
            return items.stream().map(work).toList();
        }
        ExecutorService threads = Executors.newFixedThreadPool(Math.min(items.size(), MOST_THREADS), task -> {
            Thread thread = new Thread(task, "pravega-side-by-side");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<CompletableFuture<R>> running = items.stream()
                    .map(item -> CompletableFuture.supplyAsync(() -> work.apply(item), threads)).toList();
            return running.stream().map(Waiting::on).toList();
        } finally {
            threads.shutdownNow();
        }
    }
}
