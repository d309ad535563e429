// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.Waiting;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the real-time queries of this Spark need of its task slots. A task without one would begin when its batch is
 * over, and read nothing: its segment would never be read, without any error.
 */
public final class TaskSlots {
    private static final Logger LOG = LoggerFactory.getLogger(TaskSlots.class);
    private static final Map<Object, Integer> NEEDED = new WeakHashMap<>();

    private TaskSlots() {
    }

    /**
     * Claims slots for the tasks of a source, for as long as it runs. Executors get the time to come that Spark's own
     * scheduling gives them.
     *
     * @throws PravegaException if there are fewer than all real-time sources need
     */
    public static void claim(Object source, int tasks, SparkContext spark) {
        int needed = needed(source, tasks);
        long limit = System.nanoTime() + (spark.isLocal() ? 0 : TimeUnit.MILLISECONDS.toNanos(
                spark.conf().getTimeAsMs("spark.scheduler.maxRegisteredResourcesWaitingTime", "30s")));
        if (available(spark) < needed) {
            LOG.info("{} task slots are needed for all real-time queries, {} are there: waiting for executors",
                    needed, available(spark));
        }
        while (available(spark) < needed) {
            if (System.nanoTime() - limit >= 0) {
                throw new PravegaException("real-time queries read every segment in a task of its own, all of them at "
                        + "the same time: " + needed + " task slots are needed, Spark has " + available(spark)
                        + ". Give it as many cores, with the master local[" + needed + "] or by more executors");
            }
            Waiting.sleep(100, TimeUnit.MILLISECONDS);
        }
    }

    public static void release(Object source) {
        synchronized (NEEDED) {
            NEEDED.remove(source);
        }
    }

    private static int needed(Object source, int tasks) {
        synchronized (NEEDED) {
            NEEDED.put(source, tasks);
            return NEEDED.values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    private static int available(SparkContext spark) {
        ResourceProfile tasks = spark.resourceProfileManager().defaultResourceProfile();
        return spark.maxNumConcurrentTasks(tasks);
    }
}
