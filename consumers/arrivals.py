"""When the tweets that were newly counted were sent, until the rankings show them. Pure but for the clock.

Every tweet that is ranked counts once, in its slot of `sent_at_us`. The tweets by which a slot grew are taken as sent
evenly between its last `sent_at_us` as known before and as known now: right to SLOT_US, 100 ms.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

import numpy as np

from common.tweets import SLOT_US, SlotCount

Slots = dict[tuple[int, int, int], int]
"""(slot (`sent_at_us` // SLOT_US), shards, shard) → tweets that this one of so many shards counted."""


class _Bucket:
    """Tweets by slot: of each number of shards the sum, and of several sums, which an instance has whose number was
    changed, the highest."""

    def __init__(self) -> None:
        self._parts: Slots = {}
        self._sums: Counter[tuple[int, int]] = Counter()
        self._counts: Counter[int] = Counter()
        self.latest: dict[int, int] = {}
        """The last `sent_at_us` of a slot as known so far."""

    def raise_part(self, part: tuple[int, int, int], count: int) -> int:
        """Takes what a shard has counted; by how many tweets the slot has grown."""
        slot, shards, _ = part
        more = max(0, count - self._parts.get(part, 0))
        self._parts[part] = self._parts.get(part, 0) + more
        self._sums[slot, shards] += more
        grown = max(0, self._sums[slot, shards] - self._counts[slot])
        self._counts[slot] += grown
        return grown


class Arrivals:
    """What of each bucket was counted, and what of that is not visible yet; forgotten `kept_s` after it began."""

    def __init__(self, kept_s: int) -> None:
        self._kept_s = kept_s
        self._buckets: dict[int, _Bucket] = {}
        self._waiting: list[tuple[int, np.ndarray]] = []

    def learn(self, buckets: Mapping[int, Slots]) -> None:
        """Takes what others have counted."""
        for start, slots in buckets.items():
            bucket = self._buckets.setdefault(start, _Bucket())
            for part, count in slots.items():
                bucket.raise_part(part, count)

    def add(self, counted: SlotCount, sequence: int) -> int:
        """Takes a slot whose tweets became part of the buckets with change `sequence`; how many are new in it."""
        start, latest = counted.bucket_start, counted.max_sent_us
        slot = latest // SLOT_US
        part = slot, counted.shards, counted.shard
        bucket = self._buckets.setdefault(start, _Bucket())
        if grown := bucket.raise_part(part, counted.count):
            earliest = min(latest, bucket.latest.get(slot, counted.min_sent_us))
            self._waiting.append((sequence, np.linspace(earliest, latest, grown + 1)[1:].astype(np.int64)))
            bucket.latest[slot] = latest
            self._forget(keep=start)
        return grown

    def waiting(self) -> bool:
        return bool(self._waiting)

    def take(self, visible: int) -> np.ndarray:
        """`sent_at_us` of the tweets whose change number is visible now."""
        shown = [sent for sequence, sent in self._waiting if sequence <= visible]
        self._waiting = [(sequence, sent) for sequence, sent in self._waiting if sequence > visible]
        return np.concatenate(shown) if shown else np.empty(0, np.int64)

    def restart(self) -> None:
        """Changes are numbered anew; what waits is in the rebuilt buckets already."""
        self._waiting = [(0, sent) for _, sent in self._waiting]

    def _forget(self, keep: int) -> None:
        horizon = time.time() - self._kept_s
        for old in [old for old in self._buckets if old < horizon and old != keep]:
            del self._buckets[old]
