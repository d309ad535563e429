// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import io.github.murmuration.spark.common.EventOptions;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/**
 * A stream of a store that is to be read, as its connector knows it.
 *
 * @param <S> what a partition holds at some time
 */
public interface EventSource<S> {
    /** @throws RuntimeException if it is not told which stream to read */
    String description();

    EventOptions options();

    default Optional<StartingOffsets> startingOffsets() {
        return options().startingOffsets();
    }

    default OptionalLong maxEventsPerTrigger() {
        return options().maxEventsPerTrigger();
    }

    /** @throws RuntimeException if there is no such stream */
    StreamReads<S> open();

    /** For the slices that {@link StreamReads#slices} yields. */
    PartitionReaderFactory readers(StructType columns);
}
