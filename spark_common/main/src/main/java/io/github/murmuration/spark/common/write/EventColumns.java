// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.write;

import java.io.Serializable;
import java.util.Optional;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Where a row to be written has its event, its key and its target stream; other columns are not written. */
public final class EventColumns implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final int ABSENT = -1;

    private final int event;
    private final boolean eventIsBinary;
    private final int key;
    private final int stream;
    private final String target;

    /**
     * @param keyColumn name of the column with the key
     * @param target the stream of all rows; when given, the column {@code stream} is not read
     * @throws IllegalArgumentException naming the column that is missing or of a wrong type
     */
    public EventColumns(StructType schema, String keyColumn, Optional<String> target) {
        event = find(schema, "event");
        if (event == ABSENT) {
            throw new IllegalArgumentException("the column event is missing: " + schema.simpleString()
                    + "; columns are found by name, in SQL by SELECT ... AS event");
        }
        DataType type = schema.fields()[event].dataType();
        eventIsBinary = type instanceof BinaryType;
        if (!eventIsBinary && !(type instanceof StringType)) {
            throw wrongType(schema.fields()[event], "string or binary");
        }
        key = findString(schema, keyColumn);
        this.target = target.orElse(null);
        stream = target.isPresent() ? ABSENT : findString(schema, "stream");
        if (target.isEmpty() && stream == ABSENT) {
            throw new IllegalArgumentException("neither the option stream nor the column stream names a target");
        }
    }

    /** @throws IllegalArgumentException if it is null */
    public byte[] event(InternalRow row) {
        if (row.isNullAt(event)) {
            throw new IllegalArgumentException("the column event is null");
        }
        return eventIsBinary ? row.getBinary(event) : row.getUTF8String(event).getBytes();
    }

    /** Null if the row has none. */
    public UTF8String key(InternalRow row) {
        return key == ABSENT || row.isNullAt(key) ? null : row.getUTF8String(key);
    }

    /** Null if the row has none. */
    public String keyText(InternalRow row) {
        UTF8String text = key(row);
        return text == null ? null : text.toString();
    }

    /** @throws IllegalArgumentException if it is null */
    public String stream(InternalRow row) {
        if (stream == ABSENT) {
            return target;
        }
        if (row.isNullAt(stream)) {
            throw new IllegalArgumentException("the column stream is null");
        }
        return row.getUTF8String(stream).toString();
    }

    private static int findString(StructType schema, String name) {
        int index = find(schema, name);
        if (index != ABSENT && !(schema.fields()[index].dataType() instanceof StringType)) {
            throw wrongType(schema.fields()[index], "string");
        }
        return index;
    }

    private static int find(StructType schema, String name) {
        String[] names = schema.fieldNames();
        for (int index = 0; index < names.length; index++) {
            if (names[index].equalsIgnoreCase(name)) {
                return index;
            }
        }
        return ABSENT;
    }

    private static IllegalArgumentException wrongType(StructField field, String expected) {
        return new IllegalArgumentException("the column " + field.name() + " is of type "
                + field.dataType().catalogString() + ", not " + expected);
    }
}
