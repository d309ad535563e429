// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.apache.spark.util.AccumulatorV2;

/**
 * Tells the driver of the transactions that a task has written as soon as Spark counts the task as done. From the
 * tasks' results it would hear of them only when all are done, and the executor that keeps them open may be gone then.
 */
final class WrittenTransactions extends AccumulatorV2<TransactionId, List<TransactionId>> {
    private static final long serialVersionUID = 1L;

    /** A heartbeat may look while the task adds. */
    private final CopyOnWriteArrayList<TransactionId> written = new CopyOnWriteArrayList<>();
    private final transient Consumer<TransactionId> onDriver;

    /** @param onDriver is told of each, in a thread of Spark's scheduler, which must not wait */
    WrittenTransactions(Consumer<TransactionId> onDriver) {
        this.onDriver = onDriver;
    }

    @Override
    public boolean isZero() {
        return written.isEmpty();
    }

    @Override
    public AccumulatorV2<TransactionId, List<TransactionId>> copy() {
        WrittenTransactions copy = new WrittenTransactions(onDriver);
        copy.written.addAll(written);
        return copy;
    }

    @Override
    public void reset() {
        written.clear();
    }

    @Override
    public void add(TransactionId transaction) {
        written.add(transaction);
    }

    @Override
    public void merge(AccumulatorV2<TransactionId, List<TransactionId>> ofTask) {
        if (onDriver != null) {
            ofTask.value().forEach(onDriver);
        }
    }

    /** Of a task; on the driver they are passed on, and not kept. */
    @Override
    public List<TransactionId> value() {
        return written;
    }
}
