"""Reads `hashtag-counts` and keeps the rankings in Redis: `python -m consumers.trending`.

Counts go into Redis before they are committed, as the maximum per bucket, shard and hashtag, so it does no harm when
they come twice. Of several copies one at a time publishes rankings, from the buckets that all of them fill. When Redis
has lost its data, which its marker tells, the buckets are rebuilt from the head of the stream before anything is
published.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing

from common.settings import Settings
from common.slowdown import delay_us, slow_down
from common.telemetry.reports import StageTelemetry
from common.tweets import HASHTAG_COUNTS, WINDOWS, Count, SlotCount, hashtag_count
from consumers.arrivals import Arrivals
from consumers.buckets import Buckets, Part
from consumers.parking import Parking, readable
from consumers.ranking import Rankings
from consumers.runner import main
from middleware.driver import Middleware
from middleware.registry import connect
from middleware.reread import reread

log = logging.getLogger(__name__)

GROUP = "trending"
POLL_EVENTS, POLL_S = 10_000, 0.1
PROMPT_S = 0.2
"""How soon after the last publication new counts are published: at once, if they come one batch at a time."""


class Trending:
    """Handler of one member of the group."""

    def __init__(
        self, settings: Settings, member: str, connect: Callable[[Settings], Middleware] = connect
    ) -> None:
        self._settings, self._connect = settings, connect
        self._member, self._life = f"{GROUP}-{member}", uuid.uuid4().hex
        self._buckets = Buckets.open(settings)
        self._telemetry = StageTelemetry(settings.redis_address, settings.redis_prefix, "ranked", self._member)
        self._telemetry.add(parked=0)
        self._parking = Parking(settings, "trending-consumer", HASHTAG_COUNTS, connect)
        self._interval_s = settings.ranking_interval_ms / 1000
        self._limit, self._kept_s = settings.ranking_limit, settings.rankings_kept_s
        self._marker: str | None = None
        self._rankings, self._loaded = Rankings(self._limit, self._kept_s), 0
        self._published: tuple[int, int] | None = None
        self._published_at = 0.0
        self._delay_us = delay_us(settings, "ranked")
        self._arrivals = Arrivals(settings.rankings_kept_s)

    def handle(self, events: list[bytes], place: Callable[[int], str]) -> None:
        counts, refused = readable(events, hashtag_count)
        self._telemetry.show(HASHTAG_COUNTS, events)
        self._telemetry.add(parked=self._parking.park(events, refused, place))
        raised = maxima(counts)
        # Redis has let go of those of older buckets, so that nobody knows which of their tweets were reported.
        slots = [each for each in counts if isinstance(each, SlotCount) and self._buckets.is_kept(each.bucket_start)]
        while True:
            marker = self._ready()
            sequence = self._buckets.raise_counts(raised, marker)
            if sequence is not None:
                break
            self._marker = None
        self._arrivals.learn(self._buckets.raise_slots(slots, self._life))
        ranked = sum(self._arrivals.add(slot, sequence) for slot in slots)
        slow_down(self._delay_us, ranked)

    def not_committed(self) -> None:
        """Counts that another member raises meanwhile are the same maxima."""

    def tick(self) -> None:
        """Publishes, if it is time and this member's turn, and reports what has become visible."""
        now = time.time()
        interval_s = min(PROMPT_S, self._interval_s) if self._arrivals.waiting() else self._interval_s
        if not 0 <= now - self._published_at < interval_s:
            self._published_at = now
            if self._buckets.is_publisher(self._member):
                self._publish()
            if self._arrivals.waiting():
                self._telemetry.record(self._arrivals.take(self._buckets.visible()))

    def close(self) -> None:
        self._telemetry.close()

    def _publish(self) -> None:
        marker = self._ready()
        changes = self._buckets.changes(self._loaded)
        if changes.marker != marker:
            self._marker = None
            return self._publish()
        for start, counts in changes.buckets.items():
            self._rankings.update(start, counts)
        self._loaded = changes.sequence
        self._buckets.forget(self._rankings.advance(time.time()))
        state = (changes.sequence, self._rankings.as_of)
        if state != self._published:
            rankings = (self._rankings.ranking(window) for window in WINDOWS)
            if self._buckets.publish(rankings, changes.sequence, self._member):
                self._published = state

    def _ready(self) -> str:
        """Marker of the buckets, which are complete: rebuilds them if they were lost, or kept for another time."""
        if self._marker is None:
            while (marker := self._buckets.marker()) is None:
                if self._buckets.begin_rebuild(self._member):
                    self._rebuild()
                else:
                    time.sleep(0.2)  # another member is at it
            self._marker = marker
            self._rankings, self._loaded, self._published = Rankings(self._limit, self._kept_s), 0, None
            self._arrivals.restart()
        return self._marker

    def _rebuild(self) -> None:
        """Brings what the stream holds into the buckets; what comes after that comes to the group anyway.

        Ends early if Redis loses its data again. On a connection of its own: joining a second group on the connection
        of a waiting consumer blocked for 30 s in 4 of 20 trials, with one client.
        """
        began, read = time.monotonic(), 0
        log.info("Redis has no counts that are kept for %d s: reading them again from %s", self._kept_s, HASHTAG_COUNTS)
        with self._connect(self._settings) as middleware, closing(reread(middleware, HASHTAG_COUNTS)) as batches:
            for events in batches:
                counts, _ = readable(events, hashtag_count)  # what is unreadable comes to the group, and is parked
                if not self._buckets.rebuild_counts(maxima(counts), self._member):
                    return
                read += len(counts)
            if self._buckets.end_rebuild(self._member, uuid.uuid4().hex):
                log.info("%d counts read again in %.1f s", read, time.monotonic() - began)


def maxima(counts: Iterable[Count]) -> dict[Part, dict[str, int]]:
    """Part of a bucket → hashtag, or TOTAL → the highest of its counts."""
    highest: defaultdict[tuple[int, int, int], dict[str, int]] = defaultdict(dict)
    for count in counts:
        if isinstance(count, SlotCount):
            continue
        part, tag = highest[count.bucket_start, count.shards, count.shard], count.hashtag
        if count.count > part.get(tag, 0):
            part[tag] = count.count
    return {Part(*key): part for key, part in highest.items()}


if __name__ == "__main__":
    main(GROUP, HASHTAG_COUNTS, Trending, POLL_EVENTS, POLL_S)
