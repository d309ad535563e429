"""Which repeats in *tweets-enriched* are legitimate: a sink that is at least once writes a batch again if Spark died.

Nothing that a user sees may be twice because of them: *ranked*, *stored* and *indexed* are judged without mercy.
"""

from __future__ import annotations

import xmlrpc.client
from collections.abc import Iterable, Mapping
from dataclasses import replace

from audit.ledgers.run import Finding
from common.process import manager
from common.settings import Settings
from common.tweets import ENRICHED
from ingest.manifest import Manifest
from middleware.registry import connect
from middleware.spark import SparkBinding

LAG_US = 120 * 1_000_000
"""How long after the end of a run Spark may still be at its events, having died meanwhile."""


def tolerate(settings: Settings, enriched: Finding, runs: Iterable[Manifest], repeats: Mapping[str, int]) -> Finding:
    """*enriched* with the legitimate ones of its `duplicated` as `repeated`. `repeats`: by run.

    How often Spark died cannot be known: it counts as once, and only for runs that it can have been at.
    """
    if not enriched.duplicated:
        return enriched
    with connect(settings) as middleware:
        binding = middleware.spark.binding(ENRICHED)
    started_us = spark_started_us(settings)
    hit = sum(repeats[run.run] for run in runs if started_us is not None and was_going_on(run, started_us))
    repeated = legitimate(hit, binding, settings.max_events_per_trigger)
    detail = {**enriched.detail, "repeated": repeated} if repeated else enriched.detail
    return replace(enriched, duplicated=enriched.duplicated - repeated, detail=detail)


def was_going_on(run: Manifest, at_us: int) -> bool:
    """Whether Spark may have been at the run's events then."""
    return run.started_at_us < at_us and (not run.finished or at_us < run.changed_at_us + LAG_US)


def legitimate(repeats: int, binding: SparkBinding, max_events: int | None) -> int:
    """How many of the repeats one death of Spark explains: a micro-batch at most."""
    if binding.exactly_once:
        return 0
    batch = max_events or binding.batch_events
    return repeats if batch is None else min(repeats, batch)


def spark_started_us(settings: Settings) -> int | None:
    """When Spark's process was started, in µs since the epoch; None if it does not run."""
    try:
        info = manager.ask(settings).getProcessInfo("spark")
    except (manager.NotRunning, manager.NotAnswering, xmlrpc.client.Error):
        return None
    return int(info["start"] * 1_000_000) if info["pid"] else None
