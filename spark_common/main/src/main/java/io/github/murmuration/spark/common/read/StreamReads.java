// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * What of a stream is to be read, and whether it is still there. It holds a connection until it is closed.
 *
 * @param <S> what a partition holds at some time
 */
public interface StreamReads<S> extends AutoCloseable {
    /**
     * What each of the partitions holds now.
     *
     * @param read up to where, or null
     */
    List<S> states(PartitionOffsets read);

    /** Whether it is worth asking for all states again; asked for where that costs less. */
    default boolean haveGrown(List<S> states) {
        return true;
    }

    PartitionOffsets earliest(List<S> states);

    PartitionOffsets latest(List<S> states);

    /** Where to read on after {@code read}: there, unless that is lost, as all is of a stream that was created anew. */
    default PartitionOffsets present(PartitionOffsets read, List<S> states) {
        PartitionOffsets earliest = earliest(states);
        if (read.isOfSameLife(earliest)) {
            return left(read, states);
        }
        createdAnew();
        return earliest;
    }

    /** Where to read on after {@code read} in the stream that it is of. */
    PartitionOffsets left(PartitionOffsets read, List<S> states);

    /** What follows when the stream is another one than that which was read. */
    void createdAnew();

    /**
     * Where what is planned begins, which is the first event of a stream that was created anew in between; nothing is
     * left to read where it was since.
     */
    default Optional<PartitionOffsets> begin(PartitionOffsets from, PartitionOffsets to, List<S> states) {
        PartitionOffsets earliest = earliest(states);
        if (!to.isOfSameLife(earliest)) {
            createdAnew();
            return Optional.empty();
        }
        return Optional.of(from.isOfSameLife(to) ? from : earliest);
    }

    /** Up to where about {@code limit} events before {@code target} are read. */
    PartitionOffsets limited(PartitionOffsets from, PartitionOffsets target, List<S> states, long limit);

    /** What lies between two offsets, by tasks. */
    InputPartition[] slices(PartitionOffsets from, PartitionOffsets to);

    /** What a source reports: how far a query is behind. */
    Map<String, String> metrics(PartitionOffsets consumed, List<S> states);

    @Override
    void close();
}
