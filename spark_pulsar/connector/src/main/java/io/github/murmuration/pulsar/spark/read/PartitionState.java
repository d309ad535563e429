// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.pulsar.spark.client.Ledgers;
import io.github.murmuration.pulsar.spark.client.Origin;
import io.github.murmuration.pulsar.spark.client.Place;

/**
 * What a partition holds.
 *
 * @param last behind the last event that there ever was
 * @param ledgers those that are left
 * @param known these and what is known of some that are gone
 * @param cut offset before which nothing is read any more
 */
record PartitionState(Origin origin, Place last, Ledgers ledgers, Ledgers known, long cut) {
    /** Offset at which begins what is left. */
    long head() {
        return Math.max(cut, origin.offset(ledgers.first()));
    }

    /** Offset behind the last event. */
    long end() {
        return Math.max(head(), origin.offset(last));
    }

    long entriesBetween(long first, long end) {
        return ledgers.entriesBetween(origin.place(Math.max(first, head())), origin.place(end));
    }

    /** Whether there is an event to be read between two offsets. */
    boolean hasEvents(long first, long end) {
        Place start = origin.place(Math.max(first, head()));
        Place stop = origin.place(end);
        boolean inOneEntry = start.ledger() == stop.ledger() && start.entry() == stop.entry();
        return inOneEntry ? start.nth() < stop.nth() : ledgers.entriesBetween(start, stop) > 0;
    }

    /** Entries from an offset before the head up to that; at least, unless {@link #isCertain}. */
    long lostFrom(long wanted) {
        Place from = origin.place(wanted);
        if (from.equals(last)) {
            return 0;
        }
        long entries = known.entriesBetween(from, origin.place(head()));
        return isCertain(wanted) ? entries : Math.max(1, entries);
    }

    /** Whether the ledgers from an offset on are known. */
    boolean isCertain(long wanted) {
        return known.contains(origin.place(wanted).ledger());
    }
}
