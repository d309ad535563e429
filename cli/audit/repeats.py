"""Which repeats in *tweets-enriched* are legitimate: a sink that is at least once writes a batch again if Spark died.

Nothing that a user sees may be twice because of them: *ranked*, *stored* and *indexed* are judged without mercy.
"""

from __future__ import annotations

import xmlrpc.client
from collections.abc import Iterable
from dataclasses import replace

from cli.audit.ledger import Finding
from common.settings import Settings
from common.tweets import ENRICHED
from deploy.local import supervision
from ingest.manifest import Manifest
from middleware import connect
from middleware.base import SparkBinding


def tolerate(settings: Settings, enriched: Finding, runs: Iterable[Manifest]) -> Finding:
    """*enriched* with the legitimate ones of its `duplicated` as `repeated`.

    Spark died if its process was started after a run began. How often cannot be known: it counts as once.
    """
    if not enriched.duplicated:
        return enriched
    with connect(settings) as middleware:
        binding = middleware.spark(ENRICHED)
    started_us = spark_started_us(settings)
    died = started_us is not None and any(run.started_at_us < started_us for run in runs)
    repeated = legitimate(enriched.duplicated, binding, settings.max_events_per_trigger, died)
    detail = {**enriched.detail, "repeated": repeated} if repeated else enriched.detail
    return replace(enriched, duplicated=enriched.duplicated - repeated, detail=detail)


def legitimate(repeats: int, binding: SparkBinding, max_events: int | None, died: bool) -> int:
    """How many of the repeats one death of Spark explains: a micro-batch at most."""
    if binding.exactly_once or not died:
        return 0
    batch = max_events or binding.batch_events
    return repeats if batch is None else min(repeats, batch)


def spark_started_us(settings: Settings) -> int | None:
    """When Spark's process was started, in µs since the epoch; None if it does not run."""
    try:
        info = supervision.ask(settings).getProcessInfo("spark")
    except (supervision.NotRunning, xmlrpc.client.Error, OSError):
        return None
    return int(info["start"] * 1_000_000) if info["pid"] else None
