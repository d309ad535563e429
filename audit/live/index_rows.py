"""Rows of the index against those that the database says it should hold, shard by shard. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np


class Rows(NamedTuple):
    """What the database says: the last position given, and in order the positions of blank rows, from the lowest on
    that the index keeps."""

    newest: int
    blank: np.ndarray

    def due(self, first: int, end: int, blank: np.ndarray) -> int:
        """Rows at first ≤ position < end that are to be found, if `blank` are not."""
        rows = max(0, min(end, self.newest + 1) - first)
        among = np.searchsorted(blank, [first, min(end, self.newest + 1)])
        return rows - int(among[1] - among[0])


class IndexRows(NamedTuple):
    """`held`: rows by shard, read before `now`; those below `horizon` have aged out. `gone`: positions from there on
    that the database has no row of any more."""

    held: Mapping[int, int]
    shard_rows: int
    horizon: int
    now: Rows
    gone: int


class Indexed(NamedTuple):
    lost: int
    twice: int
    behind: int
    """Rows that the index has not, yet or for ever."""


def compare(index: IndexRows, settled: Rows) -> Indexed:
    """`settled`: the rows as they were when a round began that ended before the index was read."""
    lost = twice = behind = 0
    for shard in range((index.horizon - 1) // index.shard_rows, (index.now.newest - 1) // index.shard_rows + 1):
        first, end = shard * index.shard_rows + 1, (shard + 1) * index.shard_rows + 1
        held = index.held.get(shard, 0)
        lost += max(0, settled.due(first, end, index.now.blank) - held)
        twice += max(0, held - index.now.due(first, end, settled.blank))
        behind += max(0, index.now.due(first, end, index.now.blank) - held)
    return Indexed(lost, twice, behind)
