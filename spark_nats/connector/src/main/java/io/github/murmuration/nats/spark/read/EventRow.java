// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.client.Keys;
import io.github.murmuration.nats.spark.client.StoredEvents;
import io.nats.client.impl.Headers;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** The row that a reader hands to Spark, of the wanted columns: one for all events. */
final class EventRow {
    private static final String TIME = "Nats-Time-Stamp";

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

    void set(StoredEvents.Stored stored) {
        if (event >= 0) {
            row.update(event, stored.message().getData());
        }
        if (offset >= 0) {
            row.setLong(offset, stored.sequence());
        }
        if (key >= 0) {
            setKey(stored.message().getHeaders());
        }
        if (timestamp >= 0) {
            Instant time = Instant.parse(stored.message().getHeaders().getFirst(TIME));
            row.setLong(timestamp, ChronoUnit.MICROS.between(Instant.EPOCH, time));
        }
    }

    private void setKey(Headers headers) {
        String encoded = headers.getFirst(Keys.HEADER);
        if (encoded == null) {
            row.setNullAt(key);
        } else {
            row.update(key, UTF8String.fromString(Keys.decode(encoded)));
        }
    }
}
