// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Message;
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

    void set(Message<byte[]> message, long at) {
        if (event >= 0) {
            row.update(event, message.getData());
        }
        if (offset >= 0) {
            row.setLong(offset, at);
        }
        if (key >= 0) {
            setKey(message);
        }
        if (timestamp >= 0) {
            row.setLong(timestamp, TimeUnit.MILLISECONDS.toMicros(message.getPublishTime()));
        }
    }

    private void setKey(Message<byte[]> message) {
        if (message.hasKey()) {
            row.update(key, UTF8String.fromBytes(
                    message.hasBase64EncodedKey() ? message.getKeyBytes() : UTF8String.fromString(message.getKey())
                            .getBytes()));
        } else {
            row.setNullAt(key);
        }
    }
}
