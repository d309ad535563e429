"""How far each stage is within an experiment, from the counters that the stages keep in Redis."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

import redis
from hdrh.histogram import HdrHistogram

from common.settings import Settings
from common.telemetry.reports import WRITE_SECONDS
from common.telemetry.stages import read_pipeline, read_scheduled, read_totals
from common.tweets import STAGES
from loadgen.errors import Busy
from loadgen.observe.samples import PUBLISHED, Latency

Totals = Mapping[str, Counter[str]]
ENRICHED, RANKED, SEARCHABLE = STAGES[1:]
IDLE_SECONDS = 60.0
"""How long what was published before may still be on its way."""


class Counters:
    """Counts since `begin`, of everything that goes through the instance."""

    def __init__(self, settings: Settings) -> None:
        self._redis = redis.Redis.from_url(settings.redis_address, socket_timeout=5)
        self._prefix = settings.redis_prefix
        self._before: Totals = {}

    def begin(self) -> None:
        """From here on counts start at zero. Raises Busy if tweets are on their way that were published before."""
        until = time.monotonic() + IDLE_SECONDS
        while waiting := self._waiting():
            if time.monotonic() > until:
                raise Busy(f"{waiting:,} tweets of others are still on their way after {IDLE_SECONDS:.0f} s: end their "
                           "source, or wait until `murmur audit` finds nothing missing")
            time.sleep(0.5)
        self._before = read_totals(self._redis, self._prefix)

    def _waiting(self) -> int:
        """By when tweets were sent, not by counts, which a process that was killed leaves apart for ever."""
        return max(stage["lag_events"] or 0 for stage in read_pipeline(self._redis, self._prefix))

    def since(self) -> Totals:
        """By stage, what each counter grew by. Raises redis.RedisError."""
        now = read_totals(self._redis, self._prefix)
        return {stage: now.get(stage, Counter()) - self._before.get(stage, Counter()) for stage in STAGES}

    def latencies(self, first: int, end: int, expected: int, patience_s: float = 0) -> dict[str, Latency]:
        """By stage, of the `expected` tweets scheduled from second `first` up to `end`, as far as they have arrived.

        Waits up to `patience_s` for stages that have completed more than they have said: a later one may be faster to
        say so.
        """
        until = time.monotonic() + patience_s
        while True:
            histograms = read_scheduled(self._redis, self._prefix, first, end)
            found = {stage: summary(histogram, expected) for stage, histogram in histograms.items()}
            if time.monotonic() >= until or all(latency.arrived >= expected for latency in found.values()):
                return found
            time.sleep(WRITE_SECONDS / 2)

    def close(self) -> None:
        self._redis.close()


def backlogs(since: Totals) -> dict[str, int]:
    """Tweets that were published and have not completed a stage, by stage after *published*.

    What *enrich* rejected does not wait for the stages behind it, late tweets not for *ranked*. What a later stage
    completed, the earlier ones completed too, even if they were killed before they could say so.
    """
    published, enriched = since[PUBLISHED]["total"], since[ENRICHED]["total"]
    rejected, late = since[ENRICHED]["rejected"], since[ENRICHED]["late"]
    ranked, searchable = since[RANKED]["total"], since[SEARCHABLE]["total"]
    enriched = max(enriched, ranked + rejected + late, searchable + rejected)
    return {
        ENRICHED: max(0, published - enriched),
        RANKED: max(0, published - rejected - late - ranked),
        SEARCHABLE: max(0, published - rejected - searchable),
    }


def summary(histogram: HdrHistogram, expected: int) -> Latency:
    """Percentiles over all that were expected: those that lie among what has not arrived are None."""
    arrived = int(histogram.get_total_count())
    expected = max(expected, arrived)

    def at(percentile: float) -> float | None:
        wanted = percentile / 100 * expected
        if not arrived or wanted > arrived:
            return None
        return float(histogram.get_value_at_percentile(100 * wanted / arrived))

    return Latency(expected, arrived, at(50), at(95), at(99), at(99.9), at(100))
