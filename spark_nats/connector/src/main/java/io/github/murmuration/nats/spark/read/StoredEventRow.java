// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.client.Keys;
import io.github.murmuration.nats.spark.client.StoredEvent;
import io.github.murmuration.spark.common.read.EventRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** The row of what a stream of JetStream holds. */
final class StoredEventRow extends EventRow<StoredEvent> {
    StoredEventRow(StructType columns, PartitionSlice slice) {
        super(columns, slice.stream().name(), slice.partition());
    }

    @Override
    protected byte[] event(StoredEvent stored) {
        return stored.event();
    }

    @Override
    protected UTF8String key(StoredEvent stored) {
        String encoded = stored.header(Keys.HEADER);
        return encoded == null ? null : UTF8String.fromString(Keys.decode(encoded));
    }

    @Override
    protected long timestamp(StoredEvent stored) {
        return stored.micros();
    }
}
