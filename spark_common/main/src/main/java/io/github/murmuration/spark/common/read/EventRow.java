// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The row that a reader hands to Spark, of the wanted columns: one for all events.
 *
 * @param <M> the store's message; what is not wanted of it is not asked for
 */
public abstract class EventRow<M> {
    private final SpecificInternalRow row;
    private final int event;
    private final int key;
    private final int offset;
    private final int timestamp;

    protected EventRow(StructType columns, String stream, int partition) {
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

    protected abstract byte[] event(M message);

    /** Null if it has none. */
    protected abstract UTF8String key(M message);

    /** In microseconds since 1970. */
    protected abstract long timestamp(M message);

    public final InternalRow row() {
        return row;
    }

    public final void set(M message, long at) {
        if (event >= 0) {
            row.update(event, event(message));
        }
        if (offset >= 0) {
            row.setLong(offset, at);
        }
        if (key >= 0) {
            setKey(key(message));
        }
        if (timestamp >= 0) {
            row.setLong(timestamp, timestamp(message));
        }
    }

    private void setKey(UTF8String text) {
        if (text == null) {
            row.setNullAt(key);
        } else {
            row.update(key, text);
        }
    }
}
