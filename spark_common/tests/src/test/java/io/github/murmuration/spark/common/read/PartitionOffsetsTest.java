// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Offsets as they stand in checkpoints. */
@Tag("core")
class PartitionOffsetsTest {
    @Test
    void areReadAsTheyAreWritten() {
        PartitionOffsets offsets = new PartitionOffsets(new long[] {17, 0, 1L << 45});
        assertEquals("{\"0\":17,\"1\":0,\"2\":35184372088832}", offsets.json());
        assertEquals(offsets, PartitionOffsets.fromJson(offsets.json()));
        assertEquals(offsets, PartitionOffsets.fromJson("{\"2\": 35184372088832, \"0\": 17, \"1\": 0}"));
        assertEquals(new PartitionOffsets(new long[0]), PartitionOffsets.fromJson("{}"));
    }

    @Test
    void aPartitionThatCameLaterBeginsWithItsFirstEvent() {
        PartitionOffsets offsets = new PartitionOffsets(new long[] {17});
        assertEquals(17, offsets.next(0, 5));
        assertEquals(5, offsets.next(1, 5));
    }

    @Test
    void whatIsNoOffsetIsRefused() {
        for (String json : new String[] {"{\"0\":17,\"2\":4}", "{\"0\":\"x\"}", "{\"0\":", "{\"0\":1.5e300}"}) {
            assertEquals("no offset of a stream: " + json, assertThrows(
                    IllegalArgumentException.class, () -> PartitionOffsets.fromJson(json)).getMessage());
        }
    }
}
