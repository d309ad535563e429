// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.write;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.spark.common.write.AtLeastOnceWrite;
import io.github.murmuration.spark.common.write.EventColumns;
import io.github.murmuration.spark.common.write.EventSink;
import io.github.murmuration.spark.common.write.PartitionCounts;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.types.StructType;

/** The streams that rows are appended to, as options or rows name them. */
public record PulsarSink(PulsarOptions options, StructType schema) implements EventSink {
    @Override
    public String description() {
        return options.description();
    }

    @Override
    public BatchWrite batch() {
        return atLeastOnce();
    }

    @Override
    public StreamingWrite streaming() {
        return atLeastOnce();
    }

    private AtLeastOnceWrite atLeastOnce() {
        EventColumns columns = columns();
        return new AtLeastOnceWrite(() -> new AtLeastOnceWriters(options, columns, PartitionCounts.ofNewRun()));
    }

    private EventColumns columns() {
        options.namespace();
        options.requireAtLeastOnce();
        return new EventColumns(schema, "key", options.target().map(stream -> stream.name()));
    }
}
