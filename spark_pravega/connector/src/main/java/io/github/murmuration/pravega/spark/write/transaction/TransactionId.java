// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import io.pravega.client.stream.Stream;
import java.io.Serializable;
import java.util.UUID;

/** A transaction, and what it holds: {@code rows} rows that partition {@code partition} wrote to {@code stream}. */
public record TransactionId(String scope, String stream, UUID id, int partition, long rows) implements Serializable {
    /** In place of a partition: the driver wrote the rows that tasks have kept. */
    public static final int KEPT = -1;

    public Stream target() {
        return Stream.of(scope, stream);
    }

    /** Whether a repetition of the same epoch put the same rows into the other one. */
    public boolean holdsSameRowsAs(TransactionId other) {
        return scope.equals(other.scope) && stream.equals(other.stream)
                && partition == other.partition && rows == other.rows;
    }
}
