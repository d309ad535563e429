// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import java.util.ArrayList;
import java.util.List;

/** Rows of a task for one partition, in their order: the events, and the keys as headers have them. */
final class Rows {
    private final List<byte[]> events = new ArrayList<>();
    /** Null until a row has a key. */
    private List<String> keys;

    /** @param key percent-encoded, or null */
    void add(String key, byte[] event) {
        if (key != null && keys == null) {
            keys = new ArrayList<>();
            events.forEach(before -> keys.add(null));
        }
        if (keys != null) {
            keys.add(key);
        }
        events.add(event);
    }

    int size() {
        return events.size();
    }

    byte[] event(int index) {
        return events.get(index);
    }

    String key(int index) {
        return keys == null ? null : keys.get(index);
    }
}
