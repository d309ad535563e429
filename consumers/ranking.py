"""Hashtag rankings over sliding windows of buckets. Pure: no clock, no server.

A window of W seconds at `as_of` holds the buckets with as_of - W < bucket_start <= as_of. Every window keeps its sums
up to date by differences, twice: as of now, and as of the moment to which `previous_rank` refers.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TypedDict

from common.tweets import BUCKET_SECONDS, TOTAL, WINDOWS

PREVIOUS_S = {window: min(span, 300) for window, span in WINDOWS.items()}
"""How much earlier than now `previous_rank` was."""

HORIZON_S = max(span + PREVIOUS_S[window] for window, span in WINDOWS.items())
"""Older buckets take part in no ranking: that far back `previous_rank` of the longest window goes."""


class RankedHashtag(TypedDict):
    """`share` is the part of the window's tweets with the hashtag; `rank` counts from 1."""

    hashtag: str
    count: int
    share: float
    rank: int
    previous_rank: int | None


class Ranking(TypedDict):
    """The body of `GET /api/v1/trending`."""

    window: str
    as_of: str
    tweets: int
    hashtags: list[RankedHashtag]


class WindowSum:
    """Sums of the buckets of one window that ended `delay` seconds before `as_of`."""

    def __init__(self, span: int, delay: int, limit: int) -> None:
        self._span, self._delay, self._limit = span, delay, limit
        self._counts: defaultdict[str, int] = defaultdict(int)
        self._top: list[tuple[str, int]] | None = []
        self.tweets = 0

    def holds(self, bucket: int, as_of: int) -> bool:
        end = as_of - self._delay
        return end - self._span < bucket <= end

    def bounds(self, as_of: int) -> tuple[int, int]:
        """(the bucket that enters when `as_of` is reached, the one that leaves)."""
        return as_of - self._delay, as_of - self._delay - self._span

    def add(self, counts: Iterable[tuple[str, int]], sign: int = 1) -> None:
        """Adds counts of hashtags (subtracts them with sign -1)."""
        sums = self._counts
        for tag, count in counts:
            if tag == TOTAL:
                self.tweets += sign * count
                continue
            total = sums[tag] + sign * count
            if total:
                sums[tag] = total
            else:
                del sums[tag]
        self._top = None

    def top(self) -> list[tuple[str, int]]:
        """The most frequent hashtags, equally frequent ones in alphabetical order. Remembered until sums change."""
        if self._top is None:
            self._top = self._sorted_top()
        return self._top

    def _sorted_top(self) -> list[tuple[str, int]]:
        """Sorts only what can be in the top, for there may be 100,000 hashtags of which most occur once or twice: 6 ms
        for these, where sorting all takes 97."""
        highest = heapq.nlargest(self._limit, self._counts.values())
        items = [item for item in self._counts.items() if item[1] >= highest[-1]]
        return sorted(items, key=lambda item: (-item[1], item[0]))[: self._limit]


class Rankings:
    """All windows, cut off behind `kept_s` seconds. Memory: the hashtags of that time, by bucket and by window."""

    def __init__(self, limit: int, kept_s: int = HORIZON_S) -> None:
        self._limit, self._horizon_s = limit, min(kept_s, HORIZON_S)
        self._buckets: dict[int, dict[str, int]] = {}
        self._as_of = 0
        self._reset_sums()

    def advance(self, now: float) -> list[int]:
        """Moves `as_of` to `now` (seconds since the epoch); returns the buckets that left the horizon."""
        as_of = int(now) // BUCKET_SECONDS * BUCKET_SECONDS
        if as_of < self._as_of or as_of - self._as_of > self._horizon_s:  # the clock was set, or this is the first call
            self._as_of = as_of
            self._reset_sums()
            for start, bucket in self._buckets.items():
                for window in self._holding(start):
                    window.add(bucket.items())
        while self._as_of < as_of:
            self._as_of += BUCKET_SECONDS
            for window in self._sums:
                entering, leaving = window.bounds(self._as_of)
                if entering in self._buckets:
                    window.add(self._buckets[entering].items())
                if leaving in self._buckets:
                    window.add(self._buckets[leaving].items(), sign=-1)
        expired = [start for start in self._buckets if start <= as_of - self._horizon_s]
        for start in expired:
            bucket = self._buckets.pop(start)
            for window in self._holding(start):
                window.add(bucket.items(), sign=-1)
        return expired

    def update(self, bucket_start: int, counts: Mapping[str, int]) -> None:
        """Takes counts of a bucket; of each hashtag the maximum stays. What lies beyond the horizon is passed over."""
        if bucket_start <= self._as_of - self._horizon_s:
            self._buckets.setdefault(bucket_start, {})  # for `advance` to tell that it has left
            return
        bucket = self._buckets.setdefault(bucket_start, {})
        grown = [(tag, count - bucket.get(tag, 0)) for tag, count in counts.items() if count > bucket.get(tag, 0)]
        if grown:
            bucket.update((tag, counts[tag]) for tag, _ in grown)
            for window in self._holding(bucket_start):
                window.add(grown)

    def ranking(self, window: str) -> Ranking:
        """The ranking of a window as of the last `advance`."""
        current = self._current[window]
        before = {tag: rank for rank, (tag, _) in enumerate(self._previous[window].top(), 1)}
        tweets = current.tweets
        return {
            "window": window,
            "as_of": datetime.fromtimestamp(self._as_of, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tweets": tweets,
            "hashtags": [
                {
                    "hashtag": tag,
                    "count": count,
                    "share": round(count / tweets, 6) if tweets else 0.0,
                    "rank": rank,
                    "previous_rank": before.get(tag),
                }
                for rank, (tag, count) in enumerate(current.top(), 1)
            ],
        }

    @property
    def as_of(self) -> int:
        """The last bucket of the windows, in seconds since the epoch."""
        return self._as_of

    def _holding(self, bucket: int) -> list[WindowSum]:
        return [window for window in self._sums if window.holds(bucket, self._as_of)]

    def _reset_sums(self) -> None:
        self._current = {name: WindowSum(span, 0, self._limit) for name, span in WINDOWS.items()}
        self._previous = {name: WindowSum(span, PREVIOUS_S[name], self._limit) for name, span in WINDOWS.items()}
        self._sums = [*self._current.values(), *self._previous.values()]
