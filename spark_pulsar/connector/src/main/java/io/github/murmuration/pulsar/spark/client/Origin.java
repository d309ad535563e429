// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import io.github.murmuration.pulsar.spark.PulsarException;
import java.io.Serializable;

/**
 * The entry with which a partition begins, and which is no event: offset 0 is the first event behind it. Offsets keep
 * the order of places: one is the number of a place's ledger, entry and event side by side, less that of the origin.
 */
public record Origin(long ledger, long entry) implements Serializable {
    private static final int ENTRY_BITS = 28;
    private static final int LEDGER_SHIFT = Place.INDEX_BITS + ENTRY_BITS;
    /** By so much at most may the number of an event's ledger, counted in the whole cluster, exceed the origin's. */
    private static final long MOST_LEDGERS = (1L << Long.SIZE - 1 - LEDGER_SHIFT) - 1;

    /** @throws IllegalArgumentException unless it is {@code LEDGER:ENTRY} */
    public static Origin of(String text) {
        String[] parts = text.split(":");
        if (parts.length != 2) {
            throw new IllegalArgumentException("no origin of a partition: " + text);
        }
        return new Origin(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
    }

    /**
     * 0 up to the first event.
     *
     * @throws PulsarException where a place is too far away for a number of 64 bits
     */
    public long offset(Place place) {
        long ledgers = place.ledger() - ledger;
        if (ledgers < 0) {
            return 0;
        }
        if (ledgers > MOST_LEDGERS || place.entry() >> ENTRY_BITS != 0) {
            throw new PulsarException("no offset of 64 bits tells " + place + " from all before it, back to " + this
                    + ": its stream has to be made anew");
        }
        return Math.max(0, (ledgers << LEDGER_SHIFT | place.entry() << Place.INDEX_BITS | place.nth()) - first());
    }

    public Place place(long offset) {
        long packed = offset + first();
        return new Place(ledger + (packed >> LEDGER_SHIFT), packed >> Place.INDEX_BITS & (1L << ENTRY_BITS) - 1,
                (int) (packed & Place.MOST_INDEXED));
    }

    @Override
    public String toString() {
        return ledger + ":" + entry;
    }

    private long first() {
        return entry + 1 << Place.INDEX_BITS;
    }
}
