"""What *enrich* reports of its micro-batches: counts, and when the events of the batch were sent.

Spark aggregates both beside the query (`DataFrame.observe`), so nothing is read twice. The times come as the number of
events by slot of `sent_at_us`, so that every event counts: `histogram_numeric` is exact as long as a batch has no more
than SLOTS different slots, those of ten seconds; when it catches up with more, the closest slots are merged, and the
error stays far below the latency. An event completes the stage when its batch does, sink included.
"""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any, get_args

import numpy as np
import orjson
from py4j.java_gateway import JavaObject
from pyspark import SparkContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQueryListener

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


def sent_at_us(slots: list[dict[str, float]], newest: int) -> tuple[np.ndarray, np.ndarray]:
    """When the events were sent, in µs, and how many at each of these times: the middle of a slot, and `newest`."""
    middle = np.array([slot["x"] for slot in slots], np.int64) * SLOT_US + SLOT_US // 2
    middle[-1] = newest
    return middle, np.array([slot["y"] for slot in slots]).round().astype(np.int64)


class EnrichTelemetry(StreamingQueryListener):
    """Records each completed micro-batch of *enrich* once: Spark reports it when it is committed.

    Takes Java's events as they are. PySpark would copy every field of every query's progress, each by a call of its own
    between the two processes: a fifth of a core at four batches a second.
    """

    class Java:
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)

    def __init__(self, telemetry: StageTelemetry) -> None:
        self._telemetry = telemetry

    @cached_property
    def _jlistener(self) -> JavaObject:  # type: ignore[override]
        return SparkContext._jvm.PythonStreamingQueryListenerWrapper(self)  # type: ignore[union-attr]

    def onQueryProgress(self, event: JavaObject) -> None:
        progress = orjson.loads(event.progress().json())
        measures = progress.get("observedMetrics", {}).get(OBSERVED)
        if not measures or not measures["events"]:
            return
        started = datetime.fromisoformat(progress["timestamp"])
        completed_us = int(started.timestamp() * 1e6) + progress["durationMs"]["triggerExecution"] * 1000
        record_batch(self._telemetry, measures, completed_us)

    def onQueryStarted(self, event: JavaObject) -> None:
        """A start completes nothing."""

    def onQueryIdle(self, event: JavaObject) -> None:
        """Nor does waiting."""

    def onQueryTerminated(self, event: JavaObject) -> None:
        """The first query to end, whichever it is, takes the application with it."""
        self._telemetry.close()


def record_batch(telemetry: StageTelemetry, measures: dict[str, Any], completed_us: int) -> None:
    """Counts the batch. Events without a readable stamp, of unknown latency, are the counter `unstamped` only."""
    counts = dict(measures)
    slots, newest = counts.pop("slots"), counts.pop("newest")
    events, stamped = counts.pop("events"), counts.pop("stamped")
    passed_on = {stage: counts.pop(stage) for stage in ("ranked", "searchable")}
    telemetry.pass_on(**{stage: newest for stage, newest in passed_on.items() if newest is not None})
    telemetry.add(unstamped=events - stamped, **counts)
    if stamped:
        sent, numbers = sent_at_us(slots, newest)
        telemetry.record(sent, completed_us, numbers)
