// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Offsets as they stand in checkpoints. */
@Tag("core")
class PartitionOffsetsTest {
    @Test
    void areReadAsTheyAreWritten() {
        PartitionOffsets offsets = new PartitionOffsets("2026-\"ß", new long[] {17, 0, 1L << 45});
        assertEquals("{\"life\":\"2026-\\\"ß\",\"next\":[17,0,35184372088832]}", offsets.json());
        assertEquals(offsets, PartitionOffsets.fromJson(offsets.json()));
        assertEquals(offsets.hashCode(), PartitionOffsets.fromJson(offsets.json()).hashCode());
        PartitionOffsets none = new PartitionOffsets("", new long[0]);
        assertEquals(none, PartitionOffsets.fromJson("{\"next\": [], \"life\": \"\"}"));
    }

    @Test
    void ofAnotherLifeAreOthers() {
        PartitionOffsets offsets = new PartitionOffsets("1", new long[] {17});
        assertNotEquals(offsets, new PartitionOffsets("2", new long[] {17}));
        assertEquals(new PartitionOffsets("1", new long[] {18}), offsets.with(new long[] {18}));
    }

    @Test
    void aPartitionThatCameLaterBeginsWithItsFirstEvent() {
        PartitionOffsets offsets = new PartitionOffsets("1", new long[] {17});
        assertEquals(17, offsets.next(0, 5));
        assertEquals(5, offsets.next(1, 5));
    }

    @Test
    void whatIsNoOffsetIsRefused() {
        for (String json : new String[] {
            "{}", "17", "{\"0\":17,\"1\":4}", "{\"life\":\"1\"}", "{\"life\":1,\"next\":[17]}",
            "{\"life\":\"1\",\"next\":{\"0\":17}}", "{\"life\":\"1\",\"next\":[\"x\"]}",
            "{\"life\":\"1\",\"next\":[1.5e300]}", "{\"life\":"}) {
            assertEquals("no offset of a stream: " + json, assertThrows(
                    IllegalArgumentException.class, () -> PartitionOffsets.fromJson(json)).getMessage());
        }
    }
}
