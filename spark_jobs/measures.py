"""What *enrich* reports of its micro-batches: counts, and when the events of the batch were sent.

The workers count while they enrich (tally.py), and Spark collects their few tallies beside the query
(`DataFrame.observe`), so nothing is read or aggregated twice. An event completes the stage when its batch does, sink
included.
"""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import get_args

import numpy as np
import orjson
from py4j.java_gateway import JavaObject
from pyspark import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQueryListener

from common.telemetry import StageTelemetry
from common.tweets import Reason
from spark_jobs.tally import SLOT_US, Tally

OBSERVED = "enriched"
ALL_REASONS = dict.fromkeys((f"rejected_{reason}" for reason in get_args(Reason)), 0)


def observed(enriched: DataFrame) -> DataFrame:
    """`transforms.enrich`'s rows, with the tallies that `EnrichTelemetry` reads observed on the way."""
    return enriched.observe(OBSERVED, F.collect_list("tally").alias("tallies"))


def sent_at_us(tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """When the events were sent, in µs, and how many at each of these times: the middle of a slot, and the newest."""
    slots = sorted(tally.slots)
    middle = np.array(slots, np.int64) * SLOT_US + SLOT_US // 2
    middle[-1] = tally.newest["enriched"]
    return middle, np.array([tally.slots[slot] for slot in slots], np.int64)


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
        tallies = progress.get("observedMetrics", {}).get(OBSERVED, {}).get("tallies")
        if not tallies:
            return
        tally = Tally()
        for each in tallies:
            tally.add(Tally.from_json(each))
        started = datetime.fromisoformat(progress["timestamp"])
        completed_us = int(started.timestamp() * 1e6) + progress["durationMs"]["triggerExecution"] * 1000
        record_batch(self._telemetry, tally, completed_us)

    def onQueryStarted(self, event: JavaObject) -> None:
        """A start completes nothing."""

    def onQueryIdle(self, event: JavaObject) -> None:
        """Nor does waiting."""

    def onQueryTerminated(self, event: JavaObject) -> None:
        """The first query to end, whichever it is, takes the application with it."""
        self._telemetry.close()


def record_batch(telemetry: StageTelemetry, tally: Tally, completed_us: int) -> None:
    """Counts the batch. Events without a readable stamp, of unknown latency, are the counter `unstamped` only."""
    telemetry.pass_on(**{stage: newest for stage, newest in tally.newest.items() if stage != "enriched"})
    telemetry.add(**{**ALL_REASONS, **tally.counts})
    if tally.slots:
        sent, numbers = sent_at_us(tally)
        telemetry.record(sent, completed_us, numbers)
