// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** The ledgers of a partition, in their order, with the number of their entries; the last one is written to. */
public record Ledgers(List<Ledger> listed) implements Serializable {
    public static final Ledgers NONE = new Ledgers(List.of());

    public record Ledger(long number, long entries) implements Serializable {
    }

    public Ledgers {
        listed = List.copyOf(listed);
    }

    /** From the broker's {@code internalStats}, which tell of the last ledger beside the list. */
    static Ledgers of(JsonNode stats) {
        List<Ledger> found = new ArrayList<>();
        for (JsonNode one : stats.path("ledgers")) {
            found.add(new Ledger(one.path("ledgerId").asLong(), one.path("entries").asLong()));
        }
        if (!found.isEmpty()) {
            Ledger last = found.remove(found.size() - 1);
            found.add(new Ledger(
                    last.number(), Math.max(last.entries(), stats.path("currentLedgerEntries").asLong())));
        }
        return new Ledgers(found);
    }

    /** Where what is left begins. */
    public Place first() {
        return new Place(listed.get(0).number(), 0, 0);
    }

    public boolean contains(long ledger) {
        return listed.stream().anyMatch(each -> each.number() == ledger);
    }

    /**
     * Entries of which something lies behind {@code first} and before {@code end}. That of {@code first} is not among
     * them where it was read in part.
     */
    public long entriesBetween(Place first, Place end) {
        long entries = 0;
        for (Ledger each : listed) {
            entries += Math.max(0, stop(each, end) - start(each, first));
        }
        return entries;
    }

    /** Before the entry that comes so many entries after a place. What lies behind all is the end of the last one. */
    public Place after(Place from, long entries) {
        long left = entries;
        Place behind = from;
        for (Ledger each : listed) {
            long start = start(each, from);
            long there = Math.max(0, each.entries() - start);
            if (there > left) {
                return new Place(each.number(), start + left, 0);
            }
            if (there > 0) {
                left -= there;
                behind = new Place(each.number(), each.entries(), 0);
            }
        }
        return behind;
    }

    /** The first entry that there is at a place or behind it; the place itself if there is none. */
    public Place entryFrom(Place place) {
        for (Ledger each : listed) {
            long start = start(each, place);
            if (start < each.entries()) {
                return new Place(each.number(), start, 0);
            }
        }
        return place;
    }

    /** The ledgers between two places. */
    public Ledgers between(Place first, Place end) {
        return new Ledgers(listed.stream()
                .filter(each -> each.number() >= first.ledger() && each.number() <= end.ledger()).toList());
    }

    /**
     * With those from {@code first} on that were known before and are gone, if it is certain that these are all: the
     * first of those that are left was known with them.
     */
    public Ledgers with(Ledgers before, Place first) {
        if (listed.isEmpty() || !before.contains(first().ledger())) {
            return this;
        }
        List<Ledger> all = new ArrayList<>(before.listed().stream()
                .filter(each -> each.number() >= first.ledger() && each.number() < first().ledger()).toList());
        all.addAll(listed);
        return new Ledgers(all);
    }

    /** First entry of a ledger that lies behind a place; as many as it has if none does. */
    private static long start(Ledger ledger, Place first) {
        if (ledger.number() < first.ledger()) {
            return ledger.entries();
        }
        return ledger.number() > first.ledger() ? 0 : first.entry() + (first.nth() > 0 ? 1 : 0);
    }

    /** Behind the last entry of a ledger of which something lies before a place. */
    private static long stop(Ledger ledger, Place end) {
        if (ledger.number() > end.ledger()) {
            return 0;
        }
        return ledger.number() < end.ledger() ? ledger.entries()
                : Math.min(ledger.entries(), end.entry() + (end.nth() > 0 ? 1 : 0));
    }
}
