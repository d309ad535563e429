// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.spark.common.read.EventSource;
import io.github.murmuration.spark.common.read.StreamReads;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/** The stream that is read, as the options name it. */
public record PulsarSource(PulsarOptions options) implements EventSource<PartitionState> {
    @Override
    public String description() {
        return "pulsar " + options.stream();
    }

    @Override
    public StreamReads<PartitionState> open() {
        return PulsarReads.open(options);
    }

    @Override
    public PartitionReaderFactory readers(StructType columns) {
        return new SliceReaderFactory(options, columns);
    }
}
