// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.segment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.github.murmuration.pravega.spark.PravegaTable;
import io.pravega.client.segment.impl.Segment;
import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How an event becomes a row; no server is asked. */
@Tag("core")
class SegmentReaderTest {
    private final SegmentReader.EventDeserializer deserializer = new SegmentReader.EventDeserializer(true);

    @Test
    void anArrayOfTheEventAloneIsHandedOn() {
        byte[] event = {1, 2, 3};
        assertSame(event, deserializer.deserialize(ByteBuffer.wrap(event)));
    }

    @Test
    void aPartOfAnArrayIsCopied() {
        ByteBuffer part = ByteBuffer.wrap(new byte[] {1, 2, 3, 4}, 1, 2);
        assertArrayEquals(new byte[] {2, 3}, deserializer.deserialize(part));
        assertArrayEquals(new byte[] {2, 3}, deserializer.deserialize(part.duplicate().position(1).slice()));
        assertArrayEquals(new byte[] {7}, deserializer.deserialize(ByteBuffer.allocateDirect(1).put(0, (byte) 7)));
    }

    @Test
    void aRowHasItsColumnsInTheOrderThatIsAskedFor() {
        StructType columns = new StructType(new StructField[] {
                PravegaTable.SCHEMA.apply("offset"), PravegaTable.SCHEMA.apply("event"),
                PravegaTable.SCHEMA.apply("segment_id"), PravegaTable.SCHEMA.apply("stream")});
        EventRow row = new EventRow(columns, new Segment("s", "t", 5));
        row.setOffset(1L << 40);
        row.setEvent(new byte[] {9});

        InternalRow copy = row.row().copy();
        row.setOffset(0);
        assertEquals(1L << 40, copy.getLong(0));
        assertArrayEquals(new byte[] {9}, copy.getBinary(1));
        assertEquals(5, copy.getLong(2));
        assertEquals("t", copy.getUTF8String(3).toString());
    }
}
