// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * That a process is killed.
 *
 * @param epoch from which on it is time for it
 * @param step of such an epoch in which a driver kills itself; null, if the process is killed after a while
 * @param afterTasks whether that counts from when all tasks of the epoch are done, not from its begin
 */
record Kill(boolean ofDriver, int epoch, KillStep step, boolean afterTasks, long delayMs) {
    /** Small epochs take less, so such a kill comes in a later one. */
    private static final int MAX_DELAY_MS = 1000;
    /** An append takes some ten ms and a commit some hundred, on a busy machine a multiple. */
    private static final int MAX_DELAY_AFTER_TASKS_MS = 200;
    /** In so many last epochs it is time for no kill: so each step comes after it, whatever waits before it. */
    private static final int UNTOUCHED = 3 * PlannedEpoch.TURNS.length();

    /**
     * So many of drivers and of executors, in random order; half of them in epochs that are large or have keys. One
     * driver is killed in each step that is sought, which lasts too short for chance, the others at random times.
     */
    static List<Kill> some(long seed, List<PlannedEpoch> epochs, int ofEach) {
        Random random = new Random(seed);
        List<Kill> kills = new ArrayList<>();
        for (int each = 0; each < ofEach; each++) {
            kills.add(each < KillStep.SOUGHT.size()
                    ? new Kill(true, 0, KillStep.SOUGHT.get(each), false, 0) : atRandomTime(true, random));
            kills.add(atRandomTime(false, random));
        }
        Collections.shuffle(kills, random);
        for (int part = 0; part < kills.size(); part++) {
            int from = (epochs.size() - UNTOUCHED) * part / kills.size();
            int until = Math.max(from + 1, (epochs.size() - UNTOUCHED) * (part + 1) / kills.size());
            int epoch = from + random.nextInt(until - from);
            if (random.nextBoolean()) {
                while (epoch < until - 1 && !largeOrKeyed(epochs.get(epoch))) {
                    epoch++;
                }
            }
            kills.set(part, kills.get(part).from(epoch));
        }
        return kills;
    }

    private static Kill atRandomTime(boolean ofDriver, Random random) {
        boolean afterTasks = random.nextInt(3) > 0;
        return new Kill(ofDriver, 0, null, afterTasks,
                random.nextInt(afterTasks ? MAX_DELAY_AFTER_TASKS_MS : MAX_DELAY_MS));
    }

    private Kill from(int first) {
        return new Kill(ofDriver, first, step, afterTasks, delayMs);
    }

    private static boolean largeOrKeyed(PlannedEpoch epoch) {
        return epoch.keyed() || epoch.until() - epoch.from() > 10_000;
    }
}
