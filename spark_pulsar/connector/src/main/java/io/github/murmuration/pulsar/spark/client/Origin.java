// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import java.io.Serializable;

/** The entry with which a partition begins, and which is no event: offset 0 is the first event behind it. */
public record Origin(long ledger, long entry) implements Serializable {
    /** @throws IllegalArgumentException unless it is {@code LEDGER:ENTRY} */
    public static Origin of(String text) {
        String[] parts = text.split(":");
        if (parts.length != 2) {
            throw new IllegalArgumentException("no origin of a partition: " + text);
        }
        return new Origin(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
    }

    /** 0 up to the first event. */
    public long offset(Place place) {
        return Math.max(0, place.packed() - first());
    }

    public Place place(long offset) {
        return Place.unpacked(offset + first());
    }

    @Override
    public String toString() {
        return ledger + ":" + entry;
    }

    private long first() {
        return new Place(ledger, entry + 1, 0).packed();
    }
}
