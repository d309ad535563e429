// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.pulsar.spark.client.EventStream;
import io.github.murmuration.pulsar.spark.client.Ledgers;
import io.github.murmuration.pulsar.spark.client.Origin;
import io.github.murmuration.pulsar.spark.client.Place;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * Events of one partition from {@code start} to {@code end}, which is exclusive.
 *
 * @param ledgers those in between, with the entries that they had when the read was planned
 */
record PartitionSlice(EventStream stream, int partition, Origin origin, Place start, Place end, Ledgers ledgers)
        implements InputPartition {
    String topic() {
        return stream.topic(partition);
    }
}
