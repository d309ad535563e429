// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import java.util.Random;

/** Keys for events without one: taken in turn, so that they spread over all segments. */
final class RoutingKeys {
    private final String[] keys = new String[64];
    private int next;

    RoutingKeys() {
        Random random = new Random();
        for (int index = 0; index < keys.length; index++) {
            keys[index] = Long.toHexString(random.nextLong());
        }
    }

    String next() {
        next = (next + 1) % keys.length;
        return keys[next];
    }
}
