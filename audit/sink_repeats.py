"""Which repeats in *tweets-enriched* are legitimate: a sink that is at least once writes a batch again if Spark died.

Nothing that a user sees may be twice because of them: *ranked*, *stored* and *indexed* are judged without mercy.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace

import redis

from audit.ledgers.run import Finding
from common.settings import Settings
from common.telemetry import reports
from common.telemetry.stages import read_stages
from common.tweets import ENRICHED
from ingest.manifest import Manifest
from middleware.registry import connect
from middleware.spark import SparkBinding

LAG_US = 120 * 1_000_000
"""How long after the end of a run Spark may still be at its events, having died meanwhile."""

REDIS_TIMEOUT_S = 5.0


def tolerate(settings: Settings, enriched: Finding, runs: Iterable[Manifest], repeats: Mapping[str, int]) -> Finding:
    """*enriched* with the legitimate ones of its `duplicated` as `repeated`. `repeats`: by run.

    Only deaths of Spark that it has reported count, which it does where its process runs, and only for runs that it can
    have been at. Raises RedisError.
    """
    if not enriched.duplicated:
        return enriched
    with connect(settings) as middleware:
        binding = middleware.spark.binding(ENRICHED)
    starts_us = spark_starts_us(settings)
    of_runs = [(run, [at for at in starts_us if was_going_on(run, at)]) for run in runs]
    deaths = len({at for _, starts in of_runs for at in starts})
    hit = sum(repeats[run.run] for run, starts in of_runs if starts)
    repeated = legitimate(hit, deaths, binding, settings.max_events_per_trigger)
    detail = {**enriched.detail, "repeated": repeated} if repeated else enriched.detail
    return replace(enriched, duplicated=enriched.duplicated - repeated, detail=detail)


def was_going_on(run: Manifest, at_us: int) -> bool:
    """Whether Spark may have been at the run's events then."""
    return run.started_at_us < at_us and (not run.finished or at_us < run.changed_at_us + LAG_US)


def legitimate(repeats: int, deaths: int, binding: SparkBinding, max_events: int | None) -> int:
    """How many of the repeats so many deaths of Spark explain: a micro-batch each at most."""
    if binding.exactly_once:
        return 0
    batch = max_events or binding.batch_events
    return repeats if batch is None else min(repeats, deaths * batch)


def spark_starts_us(settings: Settings) -> list[int]:
    """When Spark's process was started, in µs since the epoch. Raises RedisError."""
    with closing(redis.Redis.from_url(settings.redis_address, socket_timeout=REDIS_TIMEOUT_S)) as client:
        stages = read_stages(client, settings.redis_prefix, time.time())
    return stages[reports.ENRICHED].starts_us if reports.ENRICHED in stages else []
