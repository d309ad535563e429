"""What *enrich* reports of its micro-batches: counts, and when the events of the batch were sent.

Spark aggregates both beside the query (`DataFrame.observe`), so nothing is read twice. The times come as QUANTILES + 1
quantiles of `sent_at_us`; the events between two of them are taken as evenly spread. So within one batch a latency
percentile is right to 100 / QUANTILES percent of the events (percentile_approx adds 0.1 %); with several batches a
second the percentiles of a stage are finer than that. The least and the greatest are exact. An event completes the
stage when its batch does, sink included.
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
QUANTILES = 50


def observed(enriched: DataFrame) -> DataFrame:
    """`transforms.enrich`'s rows, with the measures that `EnrichTelemetry` reads observed on the way."""
    return enriched.observe(OBSERVED, *_measures())


def _measures() -> list[Column]:
    quantiles = F.array(*(F.lit(step / QUANTILES) for step in range(QUANTILES + 1)))
    return [
        F.count("*").alias("events"),
        F.count("sent_at_us").alias("stamped"),
        F.count("reason").alias("rejected"),
        F.count_if("late").alias("late"),
        F.sum("bytes").alias("bytes"),
        F.percentile_approx("sent_at_us", quantiles, F.lit(1000)).alias("sent_at_us"),
        F.max(F.when(F.col("reason").isNull(), F.col("sent_at_us"))).alias("searchable"),
        F.max(F.when(F.col("reason").isNull() & ~F.col("late"), F.col("sent_at_us"))).alias("ranked"),
        *(F.count_if(F.col("reason") == reason).alias(f"rejected_{reason}") for reason in get_args(Reason)),
    ]


def sent_at_us(quantiles: list[int], count: int) -> np.ndarray:
    """`count` times in µs, spread as the quantiles of a batch are."""
    return np.interp(np.linspace(0, len(quantiles) - 1, count), np.arange(len(quantiles)), quantiles).astype(np.int64)


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
    quantiles, events, stamped = counts.pop("sent_at_us"), counts.pop("events"), counts.pop("stamped")
    passed_on = {stage: counts.pop(stage) for stage in ("ranked", "searchable")}
    telemetry.pass_on(**{stage: newest for stage, newest in passed_on.items() if newest is not None})
    telemetry.add(unstamped=events - stamped, **counts)
    if stamped:
        telemetry.record(sent_at_us(quantiles, stamped), completed_us)
