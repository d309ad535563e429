// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.write;

import io.github.murmuration.pulsar.spark.PulsarOptions;
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
public record PulsarWrite(PulsarOptions options, StructType schema, boolean inPlaceOfAll) implements Write {
    public PulsarWrite forAll() {
        return new PulsarWrite(options, schema, true);
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
        return new AtLeastOnceWrite(options, columns());
    }

    private EventColumns columns() {
        options.namespace();
        options.requireAtLeastOnce();
        return new EventColumns(schema, options.target().map(stream -> stream.name()));
    }
}
