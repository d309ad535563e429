// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * That a process is killed.
 *
 * @param afterTasks whether its time counts from when all tasks of the epoch are done, not from its begin
 */
record Kill(boolean ofDriver, int epoch, boolean afterTasks, long delayMs) {
    /** Small epochs take less, so such a kill comes in a later one. */
    private static final int MAX_DELAY_MS = 1000;
    /** An append takes some ten ms and a commit some hundred, on a busy machine a multiple. */
    private static final int MAX_DELAY_AFTER_TASKS_MS = 200;
    /** In so many last epochs nothing is killed, so that no kill comes too late. */
    private static final int UNTOUCHED = 8;

    /** So many of drivers and of executors, in random order; half of them in epochs that are large or have keys. */
    static List<Kill> some(long seed, List<PlannedEpoch> epochs, int ofEach) {
        Random random = new Random(seed);
        List<Boolean> drivers = new ArrayList<>(Collections.nCopies(ofEach, true));
        drivers.addAll(Collections.nCopies(ofEach, false));
        Collections.shuffle(drivers, random);
        List<Kill> kills = new ArrayList<>();
        for (int part = 0; part < drivers.size(); part++) {
            int from = (epochs.size() - UNTOUCHED) * part / drivers.size();
            int until = Math.max(from + 1, (epochs.size() - UNTOUCHED) * (part + 1) / drivers.size());
            int epoch = from + random.nextInt(until - from);
            if (random.nextBoolean()) {
                while (epoch < until - 1 && !largeOrKeyed(epochs.get(epoch))) {
                    epoch++;
                }
            }
            boolean afterTasks = random.nextInt(3) > 0;
            kills.add(new Kill(drivers.get(part), epoch, afterTasks,
                    random.nextInt(afterTasks ? MAX_DELAY_AFTER_TASKS_MS : MAX_DELAY_MS)));
        }
        return kills;
    }

    private static boolean largeOrKeyed(PlannedEpoch epoch) {
        return epoch.keyed() || epoch.until() - epoch.from() > 10_000;
    }
}
