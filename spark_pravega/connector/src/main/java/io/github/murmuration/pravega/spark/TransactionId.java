package io.github.murmuration.pravega.spark;

import io.pravega.client.stream.Stream;
import java.io.Serializable;
import java.util.UUID;

/** A transaction, and what it holds: {@code rows} rows that partition {@code partition} wrote to {@code stream}. */
record TransactionId(String scope, String stream, UUID id, int partition, long rows) implements Serializable {
    /** In place of a partition: the driver wrote the rows that tasks have kept. */
    static final int KEPT = -1;

    Stream target() {
        return Stream.of(scope, stream);
    }

    /** Whether a repetition of the same epoch put the same rows into the other one. */
    boolean holdsSameRowsAs(TransactionId other) {
        return scope.equals(other.scope) && stream.equals(other.stream)
                && partition == other.partition && rows == other.rows;
    }
}
