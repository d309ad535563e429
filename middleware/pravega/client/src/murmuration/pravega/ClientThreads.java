package murmuration.pravega;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The threads of Pravega's client, which wakes them for little: each of its connections looks every 20 ms, used or not,
 * whether a group of events is to be sent off, and in the client's own executor that wakes every thread that waits.
 * Here {@link BlockWriter#push} sends groups off.
 */
final class ClientThreads extends ScheduledThreadPoolExecutor {
    private static final int THREADS = 2;
    private static final long SELDOM_MS = 200;

    ClientThreads() {
        super(THREADS, daemons("pravega-client"));
        setRemoveOnCancelPolicy(true);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
        long seldom = unit.convert(SELDOM_MS, TimeUnit.MILLISECONDS);
        return super.scheduleWithFixedDelay(task, first, Math.max(delay, seldom), unit);
    }

    /** Threads of this name, for which a process does not wait at its end. */
    static ThreadFactory daemons(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }
}
