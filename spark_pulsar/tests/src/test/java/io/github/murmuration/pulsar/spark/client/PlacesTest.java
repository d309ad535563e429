// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pulsar.spark.PulsarException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Offsets stand for places, and ledgers tell what lies between two of them. */
@Tag("core")
class PlacesTest {
    private static final Ledgers THREE = new Ledgers(
            List.of(new Ledgers.Ledger(3, 10), new Ledgers.Ledger(7, 0), new Ledgers.Ledger(9, 5)));

    private static Place at(long ledger, long entry, int nth) {
        return new Place(ledger, entry, nth);
    }

    @Test
    void anOffsetIsAPlaceAndBack() {
        Origin origin = Origin.of("5:2");
        for (Place place : List.of(at(5, 3, 0), at(5, 3, 4095), at(5, (1 << 28) - 1, 7), at(8_000_000, 0, 0))) {
            assertEquals(place, origin.place(origin.offset(place)));
        }
        assertEquals(0, origin.offset(at(5, 3, 0)));
        assertEquals(1, origin.offset(at(5, 3, 1)));
        assertEquals(1 << 12, origin.offset(at(5, 4, 0)));
        assertEquals((1L << 40) - (3 << 12), origin.offset(at(6, 0, 0)));
        assertEquals(0, origin.offset(at(5, 2, 1)));
        assertThrows(IllegalArgumentException.class, () -> Origin.of("5"));
    }

    @Test
    void whereALedgersNumberIsLargeOnlyItsDistanceFromTheOriginCounts() {
        Origin late = new Origin(3_000_000_000L, 2);
        for (Place place : List.of(at(3_000_000_000L, 3, 1), at(3_000_000_000L + (1 << 23) - 1, 5, 7))) {
            assertEquals(place, late.place(late.offset(place)));
        }
        assertEquals(1, late.offset(at(3_000_000_000L, 3, 1)));
        assertEquals(0, late.offset(at(1, 0, 0)));
        Origin early = Origin.of("5:2");
        assertEquals(at(8_388_612, 1, 0), early.place(early.offset(at(8_388_612, 1, 0))));
        for (Place tooFar : List.of(at(8_388_613, 0, 0), at(6, 1 << 28, 0))) {
            assertThrows(PulsarException.class, () -> early.offset(tooFar));
        }
    }

    @Test
    void entriesBetweenPlacesAreCounted() {
        assertEquals(15, THREE.entriesBetween(at(3, 0, 0), at(9, 5, 0)));
        assertEquals(0, THREE.entriesBetween(at(3, 4, 0), at(3, 4, 0)));
        assertEquals(1, THREE.entriesBetween(at(3, 4, 0), at(3, 4, 6)));
        assertEquals(5, THREE.entriesBetween(at(3, 4, 6), at(7, 0, 0)));
        assertEquals(0, THREE.entriesBetween(at(3, 9, 6), at(9, 0, 0)));
        assertEquals(3, THREE.entriesBetween(at(1, 9, 6), at(3, 2, 1)));
        assertEquals(0, THREE.entriesBetween(at(9, 5, 0), at(3, 0, 0)));
    }

    @Test
    void thePlaceAfterSoManyEntriesIsThatOfTheNext() {
        assertEquals(at(3, 4, 0), THREE.after(at(3, 1, 0), 3));
        assertEquals(at(9, 0, 0), THREE.after(at(3, 0, 0), 10));
        assertEquals(at(9, 2, 0), THREE.after(at(3, 7, 1), 4));
        assertEquals(at(9, 5, 0), THREE.after(at(3, 0, 0), 15));
        assertEquals(at(9, 0, 0), THREE.entryFrom(at(3, 10, 0)));
        assertEquals(at(3, 9, 0), THREE.entryFrom(at(3, 9, 0)));
        assertEquals(at(9, 5, 0), THREE.entryFrom(at(9, 5, 0)));
    }

    @Test
    void whatIsGoneIsKnownOnlyIfNothingCameBetween() {
        Ledgers left = new Ledgers(List.of(new Ledgers.Ledger(9, 8)));
        Ledgers known = left.with(THREE, at(3, 4, 0));
        assertEquals(6, known.entriesBetween(at(3, 4, 0), at(9, 0, 0)));
        assertEquals(8, known.entriesBetween(at(9, 0, 0), at(9, 8, 0)));
        assertTrue(known.contains(3));
        Ledgers unknown = new Ledgers(List.of(new Ledgers.Ledger(12, 8))).with(THREE, at(3, 4, 0));
        assertFalse(unknown.contains(3));
    }
}
