"""Reads what the rankings hold: Redis, and `hashtag-counts` for the buckets that Redis has let go."""

from __future__ import annotations

import time

import redis

from audit.bounded_reader import BoundedReader, TooLate, latest
from audit.ledgers.ranking import RankingLedger
from common.settings import Settings
from common.stored_counts import highest
from common.tweets import REFUSALS, SlotCount, hashtag_count

BUCKETS_PER_QUERY = 100

MARGIN_S = 60
"""How long before Redis lets a bucket go it is looked for there no more."""


class RankingCounts:
    """After each `read`, `horizon` is the first bucket that is looked for in Redis, and `gone` the last that neither
    holds any more."""

    def __init__(self, settings: Settings, reader: BoundedReader, client: redis.Redis, ranking: RankingLedger) -> None:
        self._settings, self._reader, self._redis, self._ranking = settings, reader, client, ranking
        self.horizon = self.gone = float("-inf")
        self.unreadable = 0

    def read(self, until: float) -> None:
        """Raises TooLate at `until`, in monotonic seconds."""
        self._reader.read_to(self._reader.end(), self._take, until)
        self.horizon = time.time() - self._kept_s() + MARGIN_S
        self._ranking.forget_shown(self.horizon)
        recent = sorted(start for start in self._ranking.buckets() if start >= self.horizon)
        for at in range(0, len(recent), BUCKETS_PER_QUERY):
            if time.monotonic() > until:
                raise TooLate("the rankings could not be read in time")
            self._ask(recent[at : at + BUCKETS_PER_QUERY])
        # Counts that are late and early ones are mixed: behind the first that is left come older ones, which were cut
        # off, too.
        cut = latest(self._reader.cuts.values()) + self._settings.allowed_lateness_s
        self.gone = min(self.horizon, cut)

    def _kept_s(self) -> int:
        """How long the buckets in Redis are kept at least: while they are rebuilt for another time, some for either."""
        before, now = self._redis.get(f"{self._settings.redis_prefix}kept_s"), self._settings.rankings_kept_s
        return min(int(before or now), now)

    def _ask(self, starts: list[int]) -> None:
        with self._redis.pipeline(transaction=False) as pipe:
            for start in starts:
                pipe.hgetall(f"{self._settings.redis_prefix}bucket:{start}")
            for start, bucket in zip(starts, pipe.execute(), strict=True):
                self._ranking.shown({(start, str(tag)): highest(count) for tag, count in bucket.items()})

    def _take(self, events: list[bytes], partitions: list[int]) -> None:
        maxima: dict[tuple[int, str, int, int], int] = {}
        for event, partition in zip(events, partitions, strict=True):
            try:
                count = hashtag_count(event)
            except REFUSALS:
                self.unreadable += 1
                continue
            cut = self._reader.cuts.get(partition)
            if cut and cut.since_us is None:
                cut.since_us = count.bucket_start * 1_000_000
            if isinstance(count, SlotCount):
                continue
            key = count.bucket_start, count.hashtag, count.shards, count.shard
            maxima[key] = max(maxima.get(key, 0), count.count)
        self._ranking.streamed(maxima)
