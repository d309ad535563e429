// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.write;

import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/**
 * Appends rows to one or more streams.
 *
 * @param inPlaceOfAll whether Spark wants the rows in place of all that there is: of a batch it is refused, of a query
 *     in output mode complete they are appended
 */
public record EventWrite(EventSink sink, boolean inPlaceOfAll) implements Write {
    public EventWrite forAll() {
        return new EventWrite(sink, true);
    }

    @Override
    public String description() {
        return sink.description();
    }

    @Override
    public BatchWrite toBatch() {
        if (inPlaceOfAll) {
            throw new UnsupportedOperationException("a stream is not overwritten, it is appended to: use mode append");
        }
        return sink.batch();
    }

    @Override
    public StreamingWrite toStreaming() {
        return sink.streaming();
    }
}
