"""What is in flight and what is lost is told by rounds. Pure.

A round begins with what is known at a moment. Then the end of the first reader's stream is fixed; when that reader has
passed it, the end of the stream that it writes, and so on: once the last reader has passed the last end, whatever the
round began with has gone all the way, and what is nowhere then is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from audit.live.reading import Reading
from common.tweets import Reader
from middleware.data import Position
from middleware.readers import READERS

T = TypeVar("T")
STREAM_OF = {reader.name: reader.stream for reader in READERS}


class Positions(NamedTuple):
    """Ends of streams, and where each reader stands."""

    ends: Mapping[str, Position]
    stands: Mapping[Reader, Position]


class Rounds(Generic[T]):
    """One round after the other, by readers of which each reads what the one before it writes."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self._began: T | None = None
        self._passed = 0
        self._fixed: Position | None = None
        self._since = 0.0
        """The next end is to be read after this moment."""

    def look(self, positions: Reading[Positions], now: T, at: float) -> T | None:
        """`now` is what is known since the moment `at`, by which the next round begins. Returns what the last one began
        with, when it has ended; that holds from the end of this reading on."""
        if self._began is None:
            self._began, self._since, self._passed, self._fixed = now, at, 0, None
        reader = self._readers[self._passed]
        if self._fixed is None:
            if positions.began < self._since:
                return None
            self._fixed = positions.value.ends[STREAM_OF[reader]]
        stands = positions.value.stands[reader]
        if not has_passed(stands, self._fixed):
            self._begin_anew_if_replaced(stands)
            return None
        self._passed, self._fixed, self._since = self._passed + 1, None, positions.ended
        if self._passed < len(self._readers):
            return None
        ended, self._began = self._began, None
        return ended

    def _begin_anew_if_replaced(self, stands: Position) -> None:
        """The stream was deleted and made anew: nobody will ever pass that end."""
        if self._fixed and stands.life != self._fixed.life:
            self._began = None


def has_passed(stands: Position, end: Position) -> bool:
    """Whether who stands there has done everything before `end`."""
    return stands.life == end.life and all(
        stands.offsets.get(partition, -1) >= offset for partition, offset in end.offsets.items()
    )
