// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.spark.common.write.EventColumns;
import io.github.murmuration.spark.common.write.TaskWriters;
import io.pravega.client.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;

/**
 * Makes the writers without transactions, on the executors: events can be read at once.
 *
 * @param prompt whether events are to be written one by one, as they come
 */
record AtLeastOnceWriters(PravegaOptions options, EventColumns columns, boolean prompt) implements TaskWriters {
    /** When the target, if it is one for all rows, is there. */
    static AtLeastOnceWriters toTarget(PravegaOptions options, EventColumns columns, boolean prompt) {
        try (Connections.Lease lease = Connections.lease(options)) {
            options.targetStream().ifPresent(
                    stream -> lease.connection().targets().ensureExists(Stream.of(options.scope(), stream), options));
        }
        return new AtLeastOnceWriters(options, columns, prompt);
    }

    @Override
    public DataWriter<InternalRow> open() {
        return new AtLeastOnceDataWriter(options, columns, prompt);
    }
}
