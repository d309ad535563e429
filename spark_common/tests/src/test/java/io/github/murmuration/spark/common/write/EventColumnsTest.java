// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Where a row has what is written of it. */
@Tag("core")
class EventColumnsTest {
    private static final StructType ALL = new StructType().add("other", DataTypes.LongType)
            .add("Event", DataTypes.StringType).add("routing_key", DataTypes.StringType)
            .add("stream", DataTypes.StringType);

    private static InternalRow row(Object... values) {
        return new GenericInternalRow(values);
    }

    private static UTF8String text(String text) {
        return UTF8String.fromString(text);
    }

    @Test
    void columnsAreFoundByName() {
        EventColumns columns = new EventColumns(ALL, "routing_key", Optional.empty());
        InternalRow row = row(1L, text("an event"), text("a key"), text("a-stream"));
        assertArrayEquals("an event".getBytes(StandardCharsets.UTF_8), columns.event(row));
        assertEquals(text("a key"), columns.key(row));
        assertEquals("a key", columns.keyText(row));
        assertEquals("a-stream", columns.stream(row));
    }

    @Test
    void theTargetWinsOverTheColumn() {
        EventColumns columns = new EventColumns(ALL, "key", Optional.of("target"));
        InternalRow row = row(1L, text("an event"), text("a key"), null);
        assertEquals("target", columns.stream(row));
        assertNull(columns.key(row));
        assertNull(columns.keyText(row));
    }

    @Test
    void bytesAreTakenAsTheyAre() {
        EventColumns columns = new EventColumns(
                new StructType().add("event", DataTypes.BinaryType), "key", Optional.of("target"));
        byte[] event = {1, 0, -1};
        assertArrayEquals(event, columns.event(row((Object) event)));
    }

    @Test
    void whatIsMissingIsNamed() {
        EventColumns columns = new EventColumns(ALL, "routing_key", Optional.empty());
        assertRefused("the column event is null", () -> columns.event(row(1L, null, null, null)));
        assertRefused("the column stream is null", () -> columns.stream(row(1L, null, null, null)));
        assertRefused("neither the option stream nor the column stream names a target", () -> new EventColumns(
                new StructType().add("event", DataTypes.StringType), "key", Optional.empty()));
        assertRefused("the column event is missing: struct<a:int>; columns are found by name, in SQL by SELECT ... AS "
                + "event", () -> new EventColumns(new StructType().add("a", DataTypes.IntegerType), "key",
                        Optional.empty()));
        assertRefused("the column event is of type int, not string or binary", () -> new EventColumns(
                new StructType().add("event", DataTypes.IntegerType), "key", Optional.of("target")));
        assertRefused("the column key is of type int, not string", () -> new EventColumns(
                new StructType().add("event", DataTypes.StringType).add("key", DataTypes.IntegerType), "key",
                Optional.of("target")));
    }

    private static void assertRefused(String words, Executable attempt) {
        assertEquals(words, assertThrows(IllegalArgumentException.class, attempt).getMessage());
    }
}
