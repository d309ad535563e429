// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.client.EventStream;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * Events of one partition: sequences from {@code start} to {@code end}, which is exclusive.
 *
 * @param created when the partition was, that the read was planned of
 */
record PartitionSlice(EventStream stream, int partition, String created, long start, long end)
        implements InputPartition {
    String jetStream() {
        return stream.partition(partition);
    }
}
