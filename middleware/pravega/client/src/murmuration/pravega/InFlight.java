package murmuration.pravega;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What was handed over and is neither acknowledged nor failed; bounded, but for the block that reaches the bound. */
final class InFlight {
    private final int maxEvents;
    private final long maxBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private int events;
    private long bytes;

    InFlight(int maxEvents, long maxBytes) {
        this.maxEvents = maxEvents;
        this.maxBytes = maxBytes;
    }

    /** Counts a block in, once there is room for any; false if there was none for {@code timeoutMs}. */
    boolean began(int ofEvents, long ofBytes, long timeoutMs) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
            while (events >= maxEvents || bytes >= maxBytes) {
                if (left <= 0) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            events += ofEvents;
            bytes += ofBytes;
            return true;
        } finally {
            lock.unlock();
        }
    }

    void ended(int ofEvents, long ofBytes) {
        lock.lock();
        try {
            events -= ofEvents;
            bytes -= ofBytes;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** True when nothing is in flight. */
    boolean awaitNothing(long timeoutMs) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
            while (events > 0) {
                if (left <= 0) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }
}
