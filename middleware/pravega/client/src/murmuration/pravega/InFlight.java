package murmuration.pravega;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

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
            if (!await(() -> events < maxEvents && bytes < maxBytes, timeoutMs)) {
                return false;
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
            return await(() -> events == 0, timeoutMs);
        } finally {
            lock.unlock();
        }
    }

    /** Whether it has come true in time; for who holds the lock. */
    private boolean await(BooleanSupplier condition, long timeoutMs) throws InterruptedException {
        long left = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (!condition.getAsBoolean()) {
            if (left <= 0) {
                return false;
            }
            left = changed.awaitNanos(left);
        }
        return true;
    }
}
