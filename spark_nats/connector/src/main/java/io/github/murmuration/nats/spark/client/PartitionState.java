// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

/**
 * What a partition holds.
 *
 * @param first sequence of the oldest event, or of the next one if there is none
 * @param last sequence of the newest event that there ever was, 0 before the first
 * @param created when, in the server's own text: it tells the partition from a later one of its name
 */
public record PartitionState(long first, long last, String created) {
    /** The sequence that the next event will have. */
    public long end() {
        return last + 1;
    }

    /** A stream from which all is gone, or that is new, tells 0 or its end as the first. */
    static PartitionState of(long first, long last, String created) {
        return new PartitionState(Math.max(1, Math.min(first == 0 ? last + 1 : first, last + 1)), last, created);
    }
}
