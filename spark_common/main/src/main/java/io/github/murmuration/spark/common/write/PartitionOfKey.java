// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.write;

import java.util.zip.CRC32;

/** Which partition an event with a key belongs to: the same for all writers of a stream, of whatever store. */
public final class PartitionOfKey {
    private PartitionOfKey() {
    }

    /** CRC-32 of the key in UTF-8, unsigned, modulo the number of partitions. */
    public static int of(byte[] key, int partitions) {
        CRC32 crc = new CRC32();
        crc.update(key);
        return (int) (crc.getValue() % partitions);
    }
}
