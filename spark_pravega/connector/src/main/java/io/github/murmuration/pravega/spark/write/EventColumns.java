// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import java.io.Serializable;
import java.util.Optional;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Where a row to be written has its event, its routing key and its target stream; other columns are not written. */
public final class EventColumns implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final int ABSENT = -1;

    private final int event;
    private final boolean eventIsBinary;
    private final int routingKey;
    private final int stream;
    private final String targetStream;

    /**
     * @param targetStream the stream of all rows; when given, the column {@code stream} is not read
     * @throws IllegalArgumentException naming the column that is missing or of a wrong type
     */
    public EventColumns(StructType schema, Optional<String> targetStream) {
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
        routingKey = findString(schema, "routing_key");
        this.targetStream = targetStream.orElse(null);
        stream = targetStream.isPresent() ? ABSENT : findString(schema, "stream");
        if (targetStream.isEmpty() && stream == ABSENT) {
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
    public String routingKey(InternalRow row) {
        return routingKey == ABSENT || row.isNullAt(routingKey) ? null : row.getUTF8String(routingKey).toString();
    }

    /** @throws IllegalArgumentException if it is null */
    public String stream(InternalRow row) {
        if (stream == ABSENT) {
            return targetStream;
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
