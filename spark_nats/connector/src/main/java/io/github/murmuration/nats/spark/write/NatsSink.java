// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.spark.common.write.AtLeastOnceWrite;
import io.github.murmuration.spark.common.write.EventColumns;
import io.github.murmuration.spark.common.write.EventSink;
import io.github.murmuration.spark.common.write.PartitionCounts;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.types.StructType;

/** The streams that rows are appended to, as options or rows name them. */
public record NatsSink(NatsOptions options, String queryId, StructType schema) implements EventSink {
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
        return options.exactlyOnce() ? new EpochWrite(options, columns(), queryId) : atLeastOnce();
    }

    private AtLeastOnceWrite atLeastOnce() {
        EventColumns columns = columns();
        return new AtLeastOnceWrite(() -> new AtLeastOnceWriters(options, columns, PartitionCounts.ofNewRun()));
    }

    private EventColumns columns() {
        options.namespace();
        options.batchEvents();
        options.onUnknownEpoch();
        return new EventColumns(schema, "key", options.target().map(stream -> stream.name()));
    }
}
