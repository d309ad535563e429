"""Places in a partition of Pulsar, and the integers that stand for them.

An event is found by ledger, entry and its number in that: the ledgers of a partition follow each other, an entry is
what a producer published as one, and its events are counted from 0 on. The integer keeps their order, so that two
places can be compared; it counts nothing: between two events that follow each other it may grow by much.

Every partition begins with an entry that is no event, its origin, by which it is known from where on to count: offset 0
is the first event behind it. Without it a partition that is still empty would begin with another ledger whenever the
broker starts anew.
"""

from __future__ import annotations

from typing import NamedTuple, Self

INDEX_BITS, ENTRY_BITS = 12, 28
LEDGER_SHIFT = INDEX_BITS + ENTRY_BITS

MOST_INDEXED = (1 << INDEX_BITS) - 1
"""Events of one entry, at most; the place behind the last one needs a number, too."""


class Place(NamedTuple):
    """Before the `nth` event of an entry, from 0 on; behind the last one where there are only so many."""

    ledger: int
    entry: int
    nth: int

    def is_followed_by(self, other: Place) -> bool:
        """Whether the two are of one ledger, and no event can lie between them: `other` is where an event stands."""
        at_the_end = self.nth > 0 and other == Place(self.ledger, self.entry + 1, 0)
        return self == other or at_the_end

    def packed(self) -> int:
        return self.ledger << LEDGER_SHIFT | self.entry << INDEX_BITS | self.nth


class Origin(NamedTuple):
    """The entry with which a partition begins."""

    ledger: int
    entry: int

    @classmethod
    def of(cls, text: str) -> Self:
        """From its text. Raises ValueError."""
        ledger, entry = map(int, text.split(":"))
        return cls(ledger, entry)

    def __str__(self) -> str:
        return f"{self.ledger}:{self.entry}"

    def offset(self, place: Place) -> int:
        """0 up to the first event."""
        return max(0, place.packed() - self._first())

    def place(self, offset: int) -> Place:
        packed = offset + self._first()
        return Place(packed >> LEDGER_SHIFT, packed >> INDEX_BITS & (1 << ENTRY_BITS) - 1, packed & MOST_INDEXED)

    def _first(self) -> int:
        return Place(self.ledger, self.entry + 1, 0).packed()
