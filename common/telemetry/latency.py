"""Latencies of a stage as complete histograms: every event counts, none is sampled.

Two views of the same events: by the second in which they *completed* the stage, for what is shown now, and by the
second for which they were *scheduled*, for judging an interval afterwards: what of its events is missing there has not
arrived, which the other view cannot know.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
from hdrh.histogram import HdrHistogram

MAX_LATENCY_MS = 3_600_000

KEPT_SECONDS = 900
"""So long the histograms of scheduled seconds are kept: longer than any experiment with its drain."""


def new_histogram() -> HdrHistogram:
    """Latencies in ms, 1 ms to 1 h, two significant digits."""
    return HdrHistogram(1, MAX_LATENCY_MS, 2)


def as_histogram(latency_us: np.ndarray) -> np.ndarray:
    """Latencies in ms as the histogram tells them apart (8 bits), so that a batch has few different ones to record."""
    milliseconds = np.clip(latency_us // 1000, 1, MAX_LATENCY_MS)
    bits = np.frexp(milliseconds)[1]
    step = 2 ** np.maximum(bits - 8, 0)
    told_apart: np.ndarray = milliseconds // step * step
    return told_apart


def tallied(sent_us: np.ndarray, counts: np.ndarray, completed_us: int) -> list[tuple[int, int, int]]:
    """(scheduled second, latency in ms, number of events), each pair once. `counts`: events by entry of `sent_us`."""
    tally: Counter[tuple[int, int]] = Counter()
    seconds, milliseconds = sent_us // 1_000_000, as_histogram(completed_us - sent_us)
    for second, latency, count in zip(seconds.tolist(), milliseconds.tolist(), counts.tolist(), strict=True):
        tally[second, latency] += count
    return [(second, latency, count) for (second, latency), count in tally.items()]


@lru_cache(maxsize=512)
def decoded(histogram: str) -> HdrHistogram:
    """A finished second is read again and again, by every reader for as long as it is shown. Not to be changed."""
    return HdrHistogram.decode(histogram)


class Encoder:
    """Encodes counts by latency in ms as histograms, in the same memory each time; for one thread at a time.

    A histogram of the library refers to itself, and to types that are made for it: 20 KB which stay until Python looks
    for garbage, and whoever consumes events has it do so seldom.
    """

    def __init__(self) -> None:
        self._histogram = new_histogram()

    def __call__(self, latencies: Mapping[int, int]) -> str:
        self._histogram.reset()
        for milliseconds, count in latencies.items():
            self._histogram.record_value(milliseconds, count)
        return str(self._histogram.encode().decode())


class ScheduledLatencies:
    """Latencies by the second for which the events were scheduled, and what of it is still to be stored."""

    def __init__(self, encoded: Encoder) -> None:
        self._encoded = encoded
        self._seconds: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self._changed: set[int] = set()

    def record(self, tally: Iterable[tuple[int, int, int]]) -> None:
        """Takes what `tallied` returns."""
        for second, milliseconds, count in tally:
            self._seconds[second][milliseconds] += count
            self._changed.add(second)

    def restore(self, stored: Mapping[bytes, bytes]) -> None:
        """Adds what this process's predecessor had stored, as `changed` returned it."""
        for second, histogram in stored.items():
            own = self._seconds[int(second)]
            for item in HdrHistogram.decode(histogram).get_recorded_iterator():
                own[int(item.value_iterated_to)] += int(item.count_added_in_this_iter_step)
        self.change_all()

    def change_all(self) -> None:
        """Everything is to be stored anew."""
        self._changed = set(self._seconds)

    def changed(self) -> dict[str, str]:
        """The histograms, encoded, by second, that changed since the last call, or since the last `failed`."""
        changed, self._changed = self._changed, set()
        return {str(second): self._encoded(self._seconds[second]) for second in changed}

    def failed(self, changed: Iterable[str]) -> None:
        """These could not be stored."""
        self._changed.update(map(int, changed))

    def forget(self, before: int) -> list[str]:
        """Drops, and names, the seconds before this one."""
        gone = [second for second in self._seconds if second < before]
        for second in gone:
            del self._seconds[second]
            self._changed.discard(second)
        return [str(second) for second in gone]

    def __len__(self) -> int:
        return len(self._seconds)
