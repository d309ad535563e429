package io.github.murmuration.pravega.spark;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** What a task tells the driver: the transactions that it wrote and flushed, one per target stream that got a row. */
record WrittenTransactions(List<TransactionId> transactions) implements WriterCommitMessage {
    /** Those of all tasks; of tasks that failed, Spark passes null. */
    static List<TransactionId> all(WriterCommitMessage[] messages) {
        return Arrays.stream(messages)
                .filter(Objects::nonNull)
                .flatMap(message -> ((WrittenTransactions) message).transactions().stream())
                .toList();
    }
}
