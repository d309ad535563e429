// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsOptions;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.types.StructType;

/**
 * Appends rows to one or more streams.
 *
 * @param inPlaceOfAll whether Spark wants the rows in place of all that there is: of a batch it is refused, of a query
 *     in output mode complete they are appended
 */
public record NatsWrite(NatsOptions options, String queryId, StructType schema, boolean inPlaceOfAll)
        implements Write {
    public NatsWrite forAll() {
        return new NatsWrite(options, queryId, schema, true);
    }

    @Override
    public String description() {
        return options.description();
    }

    @Override
    public BatchWrite toBatch() {
        if (inPlaceOfAll) {
            throw new UnsupportedOperationException("a stream is not overwritten, it is appended to: use mode append");
        }
        return new AtLeastOnceWrite(options, columns());
    }

    @Override
    public StreamingWrite toStreaming() {
        return options.exactlyOnce() ? new EpochWrite(options, columns(), queryId)
                : new AtLeastOnceWrite(options, columns());
    }

    private EventColumns columns() {
        options.namespace();
        options.batchEvents();
        options.onUnknownEpoch();
        return new EventColumns(schema, options.target().map(stream -> stream.name()));
    }
}
