"""The rankings' totals in Redis against what the database says should be in them, by bucket. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from search.accounts import Bucket

Totals = Mapping[int, int]
"""Tweets by bucket_start, in seconds since the epoch."""


Parked = Mapping[int | None, int]
"""Events that somebody could not read, by bucket_start; None: it could not be told."""


class Shown(NamedTuple):
    """What Redis shows. Buckets before `horizon` it may have let go."""

    totals: Totals
    horizon: float


class Due(NamedTuple):
    """What the database has seen that belongs into buckets from `since` on."""

    buckets: Mapping[int, Bucket]
    since: float


class Rankings:
    """What was concluded of a bucket stays when Redis has let it go."""

    def __init__(self) -> None:
        self._lost: dict[int, int] = {}
        self._twice: dict[int, int] = {}

    def compare_due(self, due: Totals, shown: Shown) -> None:
        """`due`: what must be shown by now, as whoever ranks has passed it."""
        _note(self._lost, shown.horizon, {start: count - shown.totals.get(start, 0) for start, count in due.items()})

    def compare_shown(self, before: Shown, due: Due) -> None:
        """`before`: what was shown before whoever tells what is due had passed it."""
        _note(self._twice, max(before.horizon, due.since), {
            start: count - sum(due.buckets.get(start, (0, 0))) for start, count in before.totals.items()
        })

    def lost(self, unranked: Parked) -> int:
        return _beyond(self._lost, unranked)

    def twice(self, unstored: Parked) -> int:
        return _beyond(self._twice, unstored)


def behind(due: Due, shown: Shown) -> int:
    """Tweets that are due and not shown, yet or for ever."""
    return sum(max(0, bucket.new - shown.totals.get(start, 0)) for start, bucket in due.buckets.items()
               if start >= shown.horizon)


def _note(found: dict[int, int], horizon: float, differences: Totals) -> None:
    """Replaces what was found of the buckets from the horizon on."""
    for start in [start for start in found if start >= horizon]:
        del found[start]
    found.update({start: count for start, count in differences.items() if count > 0 and start >= horizon})


def _beyond(found: Totals, parked: Parked) -> int:
    """What was found, without what is explained by events that were parked, each in its own bucket."""
    unexplained = sum(max(0, count - parked.get(start, 0)) for start, count in found.items())
    return max(0, unexplained - parked.get(None, 0))
