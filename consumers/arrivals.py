"""When the tweets that were newly counted were sent, until the rankings show them. Pure but for the clock.

Every tweet that is ranked counts once, in its slot of `sent_at_us`. The tweets by which a slot grew are taken as sent
evenly between its last `sent_at_us` as known before and as known now: right to SLOT_US, 100 ms.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from common.tweets import SLOT_US, SlotCount

Slots = dict[int, int]
"""Slot (`sent_at_us` // SLOT_US) → tweets."""


class Arrivals:
    """What of each bucket was counted, and what of that is not visible yet; forgotten `kept_s` after it began."""

    def __init__(self, kept_s: int) -> None:
        self._kept_s = kept_s
        self._buckets: dict[int, dict[int, tuple[int, int | None]]] = {}
        self._changed: dict[int, Slots] = {}
        self._waiting: list[tuple[int, np.ndarray]] = []

    def known(self) -> set[int]:
        return set(self._buckets)

    def learn(self, buckets: Mapping[int, Slots]) -> None:
        """Takes what a predecessor of this process counted before."""
        for start, slots in buckets.items():
            self._buckets[start] = {slot: (count, None) for slot, count in slots.items()}

    def add(self, counted: SlotCount, sequence: int) -> int:
        """Takes a slot whose tweets became part of the buckets with change `sequence`; how many are new in it."""
        start, latest = counted.bucket_start, counted.max_sent_us
        slot = latest // SLOT_US
        slots = self._buckets.setdefault(start, {})
        count, before = slots.get(slot, (0, None))
        grown = counted.count - count
        if grown <= 0:
            return 0
        earliest = min(latest, counted.min_sent_us if before is None else before)
        sent = np.linspace(earliest, latest, grown + 1)[1:].astype(np.int64)
        self._waiting.append((sequence, sent))
        slots[slot] = (counted.count, latest)
        self._changed.setdefault(start, {})[slot] = counted.count
        self._forget(keep=start)
        return grown

    def changed(self) -> dict[int, Slots]:
        """What was counted since `kept`, for a successor to learn."""
        return self._changed

    def kept(self) -> None:
        """What has changed is stored where a successor finds it."""
        self._changed = {}

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
