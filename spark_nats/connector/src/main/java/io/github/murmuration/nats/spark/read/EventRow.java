// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.client.Keys;
import io.github.murmuration.nats.spark.client.StoredEvent;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** The row that a reader hands to Spark, of the wanted columns: one for all events. */
final class EventRow {
    private final SpecificInternalRow row;
    private final int event;
    private final int key;
    private final int offset;
    private final int timestamp;

    EventRow(StructType columns, String stream, int partition) {
        List<String> names = Arrays.asList(columns.fieldNames());
        event = names.indexOf("event");
        key = names.indexOf("key");
        offset = names.indexOf("offset");
        timestamp = names.indexOf("timestamp");
        row = new SpecificInternalRow(columns);
        if (names.contains("stream")) {
            row.update(names.indexOf("stream"), UTF8String.fromString(stream));
        }
        if (names.contains("partition")) {
            row.setInt(names.indexOf("partition"), partition);
        }
    }

    InternalRow row() {
        return row;
    }

    void set(StoredEvent stored) {
        if (event >= 0) {
            row.update(event, stored.event());
        }
        if (offset >= 0) {
            row.setLong(offset, stored.sequence());
        }
        if (key >= 0) {
            setKey(stored.header(Keys.HEADER));
        }
        if (timestamp >= 0) {
            row.setLong(timestamp, stored.micros());
        }
    }

    private void setKey(String encoded) {
        if (encoded == null) {
            row.setNullAt(key);
        } else {
            row.update(key, UTF8String.fromString(Keys.decode(encoded)));
        }
    }
}
