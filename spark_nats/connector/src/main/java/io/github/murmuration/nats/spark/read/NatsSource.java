// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.client.PartitionState;
import io.github.murmuration.spark.common.read.EventSource;
import io.github.murmuration.spark.common.read.StreamReads;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/** The stream that is read, as the options name it. */
public record NatsSource(NatsOptions options) implements EventSource<PartitionState> {
    @Override
    public String description() {
        return "nats " + options.stream();
    }

    @Override
    public StreamReads<PartitionState> open() {
        return NatsReads.open(options);
    }

    @Override
    public PartitionReaderFactory readers(StructType columns) {
        return new SliceReaderFactory(options, columns);
    }
}
