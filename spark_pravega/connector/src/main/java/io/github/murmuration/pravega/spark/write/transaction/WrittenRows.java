// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import io.github.murmuration.pravega.spark.write.append.KeptEvents;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * What a task tells the driver.
 *
 * @param transactions that it wrote and flushed, one per target stream that got a row
 * @param kept what it leaves to the driver to write; null if nothing
 */
public record WrittenRows(List<TransactionId> transactions, KeptEvents kept) implements WriterCommitMessage {
    public static final WrittenRows NONE = new WrittenRows(List.of(), null);

    public WrittenRows(KeptEvents kept) {
        this(List.of(), kept);
    }

    public WrittenRows(List<TransactionId> transactions) {
        this(transactions, null);
    }

    /** The transactions of all tasks; of tasks that failed, Spark passes null. */
    public static List<TransactionId> transactions(WriterCommitMessage[] messages) {
        return of(messages).stream().flatMap(rows -> rows.transactions().stream()).toList();
    }

    /** What all tasks have kept. */
    public static List<KeptEvents> kept(WriterCommitMessage[] messages) {
        return of(messages).stream().map(WrittenRows::kept).filter(Objects::nonNull).toList();
    }

    private static List<WrittenRows> of(WriterCommitMessage[] messages) {
        return Arrays.stream(messages).filter(Objects::nonNull).map(WrittenRows.class::cast).toList();
    }
}
