"""What *enrich* reports of its micro-batches: counts, and when the events of the batch were sent.

Spark aggregates both beside the query (`DataFrame.observe`), so nothing is read twice. The times come as the number of
events by slot of `sent_at_us`, so that every event counts: `histogram_numeric` is exact as long as a batch has no more
than SLOTS different slots, those of ten seconds; when it catches up with more, the closest slots are merged, and the
error stays far below the latency. An event completes the stage when its batch does, sink included.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, get_args

import numpy as np
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQueryListener
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
)

from common.telemetry import StageTelemetry
from common.tweets import Reason

OBSERVED = "enriched"
SLOT_US, SLOTS = 10_000, 1000


def observed(enriched: DataFrame) -> DataFrame:
    """`transforms.enrich`'s rows, with the measures that `EnrichTelemetry` reads observed on the way."""
    return enriched.observe(OBSERVED, *_measures())


def _measures() -> list[Column]:
    slot = F.floor(F.col("sent_at_us") / SLOT_US)
    return [
        F.count("*").alias("events"),
        F.count("sent_at_us").alias("stamped"),
        F.count("reason").alias("rejected"),
        F.count_if("late").alias("late"),
        F.sum("bytes").alias("bytes"),
        F.histogram_numeric(slot, F.lit(SLOTS)).alias("slots"),
        F.max("sent_at_us").alias("newest"),
        F.max(F.when(F.col("reason").isNull(), F.col("sent_at_us"))).alias("searchable"),
        F.max(F.when(F.col("reason").isNull() & ~F.col("late"), F.col("sent_at_us"))).alias("ranked"),
        *(F.count_if(F.col("reason") == reason).alias(f"rejected_{reason}") for reason in get_args(Reason)),
    ]


def sent_at_us(slots: list[Row], newest: int) -> tuple[np.ndarray, np.ndarray]:
    """When the events were sent, in µs, and how many at each of these times: the middle of a slot, and `newest`."""
    middle = np.array([slot["x"] for slot in slots], np.int64) * SLOT_US + SLOT_US // 2
    middle[-1] = newest
    return middle, np.array([slot["y"] for slot in slots]).round().astype(np.int64)


class EnrichTelemetry(StreamingQueryListener):
    """Records each completed micro-batch of *enrich* once: Spark reports it when it is committed."""

    def __init__(self, telemetry: StageTelemetry) -> None:
        self._telemetry = telemetry

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        progress = event.progress
        measures = progress.observedMetrics.get(OBSERVED)
        if measures is None or not measures["events"]:
            return
        started = datetime.fromisoformat(progress.timestamp)
        completed_us = int(started.timestamp() * 1e6) + progress.durationMs["triggerExecution"] * 1000
        record_batch(self._telemetry, measures, completed_us)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """A start completes nothing."""

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Nor does waiting."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """The first query to end, whichever it is, takes the application with it."""
        self._telemetry.close()


def record_batch(telemetry: StageTelemetry, measures: Row, completed_us: int) -> None:
    """Counts the batch. Events without a readable stamp, of unknown latency, are the counter `unstamped` only."""
    counts: dict[str, Any] = measures.asDict()
    slots, newest = counts.pop("slots"), counts.pop("newest")
    events, stamped = counts.pop("events"), counts.pop("stamped")
    passed_on = {stage: counts.pop(stage) for stage in ("ranked", "searchable")}
    telemetry.pass_on(**{stage: newest for stage, newest in passed_on.items() if newest is not None})
    telemetry.add(unstamped=events - stamped, **counts)
    if stamped:
        sent, numbers = sent_at_us(slots, newest)
        telemetry.record(sent, completed_us, numbers)
