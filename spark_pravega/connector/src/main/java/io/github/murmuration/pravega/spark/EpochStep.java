package io.github.murmuration.pravega.spark;

import java.util.function.BiConsumer;

/** The points between which a crash of the driver leaves different things behind. Tests stop there. */
enum EpochStep {
    /** All tasks have flushed their transactions; nothing is recorded. */
    WRITTEN,
    /** It is durable which transactions make up the epoch; none is committed. */
    RECORDED,
    /** All are committed, which may not be recorded yet; Spark has not logged the epoch. */
    COMMITTED;

    private static volatile BiConsumer<EpochStep, EpochRecord> observer = (step, record) -> { };

    static void observe(BiConsumer<EpochStep, EpochRecord> newObserver) {
        observer = newObserver;
    }

    void reached(EpochRecord record) {
        observer.accept(this, record);
    }
}
