"""Which numbers of which runs a reader has lost. Pure.

A number is lost that was acknowledged and has passed through the reader's stream, is not there any more, and that what
comes after the reader does not have either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cli.audit.seqs import Seqs


@dataclass
class Run:
    """What is known of one run: numbers below `acknowledged`, as its manifest says, and where they were found."""

    name: str
    acknowledged: int
    _kept: Seqs = field(default_factory=Seqs)
    _last_there: int = -1
    _first_done: int | None = None

    def there(self, seq: int) -> None:
        """It is still in the stream."""
        self._kept.add(seq)
        self._last_there = max(self._last_there, seq)

    def done(self, seq: int) -> None:
        """What comes after the reader has it."""
        self._kept.add(seq)
        self._first_done = seq if self._first_done is None else min(self._first_done, seq)

    def kept(self, seq: int) -> None:
        """It was not lost; that says nothing about those before it."""
        self._kept.add(seq)

    def accepted(self, first: int, last: int) -> None:
        """These were told to be lost before."""
        self._kept.add_range(first, last + 1)

    @property
    def is_there(self) -> bool:
        return self._last_there >= 0

    @property
    def is_done(self) -> bool:
        return self._first_done is not None

    def passed(self, superseded: bool) -> int:
        """How many numbers have passed an inner stream: up to the last there; all, if a later run is there instead."""
        return self.acknowledged if superseded and not self.is_there else min(self.acknowledged, self._last_there + 1)

    def missing(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """Ranges, both ends included."""
        return ((start, stop - 1) for start, stop in self._kept.absent(first, end))

    @property
    def first_done(self) -> int:
        return self._first_done or 0


def lost(runs: Sequence[Run], *, all_passed: bool, forgets: bool) -> Iterator[tuple[str, int, int]]:
    """(run, first, last), both included, of runs in the order in which they began.

    `all_passed`: what is acknowledged has been in the stream, as is so of `tweets-raw`; the others may not have got it
    yet. `forgets`: what comes after the reader has let go of its oldest, so what is older than all it has was there.
    """
    newest_there = max((number for number, run in enumerate(runs) if run.is_there), default=len(runs))
    oldest_done = min((number for number, run in enumerate(runs) if run.is_done), default=0)
    for number, run in enumerate(runs):
        end = run.acknowledged if all_passed else run.passed(number < newest_there)
        first = run.first_done if forgets else 0
        if forgets and number < oldest_done:
            first = end
        for start, stop in run.missing(first, end):
            yield run.name, start, stop
