"""Which numbers of which runs a reader has lost. Pure.

A number is lost that was acknowledged and has passed through the reader's stream, is not there any more, and that what
comes after the reader does not have either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from audit.ledgers.seqs import Seqs


@dataclass
class Run:
    """What is known of one run: numbers below `acknowledged`, as its manifest says, and where they were found."""

    name: str
    acknowledged: int
    _kept: Seqs = field(default_factory=Seqs)
    _last_there: int = -1
    _done: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By place, the first and the last number that it has."""

    def there(self, seq: int) -> None:
        """It is still in the stream."""
        self._kept.add(seq)
        self._last_there = max(self._last_there, seq)

    def done(self, seq: int, place: str) -> None:
        """A place after the reader has it."""
        self._kept.add(seq)
        first, last = self._done.get(place, (seq, seq))
        self._done[place] = min(first, seq), max(last, seq)

    def is_done(self, place: str) -> bool:
        """Whether the place has anything of it."""
        return place in self._done

    def first_done(self, place: str) -> int:
        return self._done[place][0] if place in self._done else 0

    def last_done(self, place: str) -> int:
        return self._done[place][1] if place in self._done else -1

    def not_lost(self, first: int, last: int) -> None:
        """Both included: they were told to be lost before, or the reader has read them for sure."""
        self._kept.add_range(first, last + 1)

    @property
    def is_there(self) -> bool:
        return self._last_there >= 0

    def passed(self, superseded: bool) -> int:
        """How many numbers have passed an inner stream: up to the last there; all, if a later run is there instead."""
        return self.acknowledged if superseded and not self.is_there else min(self.acknowledged, self._last_there + 1)

    def missing(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """Ranges, both ends included."""
        return ((start, stop - 1) for start, stop in self._kept.absent(first, end))


def lost(runs: Sequence[Run], *, all_passed: bool, forgets: Collection[str]) -> Iterator[tuple[str, int, int]]:
    """(run, first, last), both included, of runs in the order in which they began.

    `all_passed`: what is acknowledged has been in the stream, as is so of `tweets-raw`; the others may not have got it
    yet. `forgets`: the places after the reader that have let go of their oldest, so that what is older than all that
    one of them has may have been there.
    """
    newest_there = max((number for number, run in enumerate(runs) if run.is_there), default=len(runs))
    oldest_done = {
        place: min((number for number, run in enumerate(runs) if run.is_done(place)), default=0) for place in forgets
    }
    for number, run in enumerate(runs):
        end = run.acknowledged if all_passed else run.passed(number < newest_there)
        first = max((end if number < oldest else run.first_done(place) for place, oldest in oldest_done.items()),
                    default=0)
        for start, stop in run.missing(first, end):
            yield run.name, start, stop
