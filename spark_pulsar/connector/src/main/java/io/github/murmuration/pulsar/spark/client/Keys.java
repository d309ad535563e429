// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import java.util.zip.CRC32;

/** Keys of events: a client of Pulsar in another language would put them elsewhere by itself. */
public final class Keys {
    private Keys() {
    }

    /** CRC-32 of the key in UTF-8, unsigned, modulo the number of partitions. */
    public static int partition(byte[] key, int partitions) {
        CRC32 crc = new CRC32();
        crc.update(key);
        return (int) (crc.getValue() % partitions);
    }
}
