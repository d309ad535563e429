// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import java.io.Serializable;
import java.util.Comparator;

/** Before the {@code nth} event of an entry, from 0 on; behind the last one where there are only so many. */
public record Place(long ledger, long entry, int nth) implements Comparable<Place>, Serializable {
    static final int INDEX_BITS = 12;
    /** Events of one entry, at most; the place behind the last one needs a number, too. */
    public static final int MOST_INDEXED = (1 << INDEX_BITS) - 1;

    private static final Comparator<Place> ORDER =
            Comparator.comparingLong(Place::ledger).thenComparingLong(Place::entry).thenComparingInt(Place::nth);

    /** Behind all of the entry. */
    public Place nextEntry() {
        return new Place(ledger, entry + 1, 0);
    }

    public boolean isBefore(Place other) {
        return compareTo(other) < 0;
    }

    @Override
    public int compareTo(Place other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return ledger + ":" + entry + ":" + nth;
    }
}
