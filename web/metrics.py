"""The pipeline's telemetry as Prometheus metrics, read at every scrape."""

from __future__ import annotations

import time
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from redis import Redis
from redis.exceptions import RedisError

from common.settings import Settings
from common.telemetry import ledger, retention
from common.telemetry.durability import UNKNOWN, told
from common.telemetry.stages import read_pipeline, read_stages
from common.tweets import STAGES
from web.event_streams import Broadcast

QUANTILES = {"p50": "0.5", "p95": "0.95", "p99": "0.99"}
LEDGER = {
    "in_flight": "Acknowledged tweets that are still to come", "lost": "Acknowledged tweets that did not come",
    "twice": "Tweets that are shown too often", "repeated": "Events that came again and are counted once",
}
REJECTED = "rejected_"
"""Begins the names of the counters of rejected events; the rest is the reason."""


class PipelineCollector(Collector):
    """What is unknown is left out, never 0. Without Redis only `murmur_redis_up` and the process's own remain."""

    def __init__(self, redis: Redis, settings: Settings, broadcast: Broadcast) -> None:
        self._redis, self._settings, self._broadcast = redis, settings, broadcast

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("murmur_instance", "What runs", self._instance())
        yield GaugeMetricFamily("murmur_event_streams", "Open event streams of this process", len(self._broadcast))
        try:
            figures = [*self._now(), *self._totals(), self._retention(), *self._ledger()]
        except RedisError:
            figures = []
        yield GaugeMetricFamily("murmur_redis_up", "Whether Redis answered this scrape", int(bool(figures)))
        yield from figures

    def _instance(self) -> dict[str, str]:
        """`durability_asked`: true where the running server says so, false where that is as it was configured."""
        try:
            durability, asked = told(self._redis, self._settings.redis_prefix)
        except RedisError:
            durability, asked = UNKNOWN
        known = {"durability": durability, "durability_asked": str(asked).lower()} if durability else {}
        return {"middleware": self._settings.middleware, **known}

    def _now(self) -> list[Metric]:
        rate = GaugeMetricFamily("murmur_stage_rate", "Tweets per second that complete the stage", labels=["stage"])
        lag = GaugeMetricFamily("murmur_stage_lag_events", "Tweets by which the stage is behind", labels=["stage"])
        behind = GaugeMetricFamily("murmur_stage_lag_seconds", "Seconds by which the stage is behind", labels=["stage"])
        latency = GaugeMetricFamily(
            "murmur_stage_latency_seconds", "From intended send to stage, over 30 s", labels=["stage", "quantile"]
        )
        for stage in read_pipeline(self._redis, self._settings.redis_prefix):
            name = stage["name"]
            for family, value in ((rate, "rate_per_s"), (lag, "lag_events"), (behind, "lag_seconds")):
                if stage[value] is not None:  # type: ignore[literal-required]
                    family.add_metric([name], stage[value])  # type: ignore[literal-required]
            for percentile, milliseconds in stage["latency_ms"].items():
                if milliseconds is not None:
                    latency.add_metric([name, QUANTILES[percentile]], milliseconds / 1000)
        return [rate, lag, behind, latency]

    def _totals(self) -> list[Metric]:
        completed = CounterMetricFamily("murmur_stage_tweets", "Tweets that completed the stage", labels=["stage"])
        rejected = CounterMetricFamily("murmur_rejected_events", "Rejected events, by reason", labels=["reason"])
        other = CounterMetricFamily("murmur_stage_counter", "Counters beside the totals", labels=["stage", "counter"])
        for name, stage in read_stages(self._redis, self._settings.redis_prefix, time.time()).items():
            if name in STAGES:  # *trending* has counters alone, and completes none
                completed.add_metric([name], stage.total)
            for counter, count in stage.extra.items():
                if counter.startswith(REJECTED):
                    rejected.add_metric([counter.removeprefix(REJECTED)], count)
                else:
                    other.add_metric([name, counter], count)
        return [completed, rejected, other]

    def _retention(self) -> Metric:
        used = GaugeMetricFamily(
            "murmur_retention_used", "Share of the retention that lies before the reader; at 1 events are lost",
            labels=["reader"],
        )
        for reader, share in retention.read(self._redis, self._settings.redis_prefix).items():
            if share is not None:
                used.add_metric([reader], share)
        return used

    def _ledger(self) -> list[Metric]:
        found = ledger.read(self._redis, self._settings.redis_prefix)
        acknowledged = GaugeMetricFamily("murmur_ledger_acknowledged", "Tweets of all runs that are acknowledged")
        if found["acknowledged"] is not None:
            acknowledged.add_metric([], found["acknowledged"])
        families = {
            name: GaugeMetricFamily(f"murmur_ledger_{name}", f"{what}, by stage of the ledger", labels=["stage"])
            for name, what in LEDGER.items()
        }
        for stage in found["stages"]:
            for name, family in families.items():
                if (value := stage[name]) is not None:  # type: ignore[literal-required]
                    family.add_metric([stage["name"]], value)
        return [acknowledged, *families.values()]
