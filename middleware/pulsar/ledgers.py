"""The ledgers of a partition, as its broker lists them: what lies between two places, in entries and in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from middleware.pulsar.offsets import Place

MEASURED = 16
"""So many entries at one end of a ledger are measured one by one; of more, each counts as large as any other."""


@dataclass(frozen=True)
class Ledger:
    number: int
    entries: int
    size: int


@dataclass(frozen=True)
class Ledgers:
    """In their order; the last one is written to."""

    listed: tuple[Ledger, ...]

    @classmethod
    def of(cls, stats: Mapping[str, Any]) -> Ledgers:
        """From the broker's `internalStats`, which tell of the last ledger beside the list."""
        found = [Ledger(one["ledgerId"], one["entries"], one["size"]) for one in stats["ledgers"]]
        if found:
            last = found.pop()
            found.append(Ledger(last.number, max(last.entries, stats["currentLedgerEntries"]),
                                max(last.size, stats["currentLedgerSize"])))
        return cls(tuple(found))

    def first(self) -> Place:
        """Where what is left begins."""
        return Place(self.listed[0].number, 0, 0)

    def last(self, count: int) -> Place:
        """Before the last so many entries, or the first one."""
        for ledger in reversed(self.listed):
            if ledger.entries >= count:
                return Place(ledger.number, ledger.entries - count, 0)
            count -= ledger.entries
        return self.first()

    def is_complete(self, place: Place) -> bool:
        """Whether the place's ledger is known, and nothing comes into it any more."""
        return any(ledger.number == place.ledger for ledger in self.listed[:-1])

    def lists(self, place: Place) -> bool:
        """Whether the place's ledger is among them: then all those before it are, too."""
        return any(ledger.number == place.ledger for ledger in self.listed)

    def entries_between(self, first: Place, end: Place) -> int:
        """Those of which something lies behind `first` and before `end`, in the ledgers that are listed.

        That of `first` is not among them where it is read in part.
        """
        return sum(max(0, stop - start) for _, start, stop in self._parts(first, end))

    def bytes_between(self, first: Place, end: Place, measure: Callable[[int, int], int]) -> int:
        """`measure`: size of an entry of a ledger."""
        return sum(_size(ledger, start, stop, measure) for ledger, start, stop in self._parts(first, end))

    def _parts(self, first: Place, end: Place) -> Iterable[tuple[Ledger, int, int]]:
        """Of each ledger in between: the first entry, and that behind the last one."""
        for ledger in self.listed:
            if first.ledger <= ledger.number <= end.ledger:
                start = first.entry + (first.nth > 0) if ledger.number == first.ledger else 0
                stop = end.entry + (end.nth > 0) if ledger.number == end.ledger else ledger.entries
                if start < min(stop, ledger.entries):
                    yield ledger, start, min(stop, ledger.entries)


def _size(ledger: Ledger, start: int, stop: int, measure: Callable[[int, int], int]) -> int:
    """Of the entries of a ledger. Those that lie outside, or these, are measured where there are few of either."""
    outside = ledger.entries - (stop - start)
    if not outside:
        return ledger.size
    if outside <= MEASURED:
        return ledger.size - sum(measure(ledger.number, n) for n in (*range(start), *range(stop, ledger.entries)))
    if stop - start <= MEASURED:
        return sum(measure(ledger.number, n) for n in range(start, stop))
    return round(ledger.size * (stop - start) / ledger.entries)
