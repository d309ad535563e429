"""What the queries report of their micro-batches: counts, and of *enrich* also when the events of the batch were sent.

Its workers count while they enrich (tally.py), and Spark collects their few tallies beside the query
(`DataFrame.observe`), so nothing is read or aggregated twice. An event completes the stage when its batch does, sink
included.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable
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

from common.telemetry.reports import StageTelemetry
from common.tweets import REJECTED, Reason
from spark_jobs.tally import INSTANT_US, Tally
from spark_jobs.transforms import TrendingCounters

OBSERVED = "enriched"
BY_ENRICH = [reason for reason in get_args(Reason) if reason != "unreadable"]
ENRICH_COUNTERS = ("rejected", *(f"rejected_{reason}" for reason in BY_ENRICH), "late", "unstamped", "bytes")

LOG_SECONDS = 60.0
"""How often the log tells of what *trending* leaves out."""

log = logging.getLogger(__name__)


def observed(enriched: DataFrame) -> DataFrame:
    """`transforms.enrich`'s rows, with the tallies that `EnrichTelemetry` reads observed on the way."""
    return enriched.observe(OBSERVED, F.collect_list("tally").alias("tallies"))


def sent_at_us(tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """When the events were sent, in µs, and how many then: the middle of each instant, and the newest."""
    instants = sorted(tally.instants)
    middle = np.array(instants, np.int64) * INSTANT_US + INSTANT_US // 2
    middle[-1] = tally.newest["enriched"]
    return middle, np.array([tally.instants[each] for each in instants], np.int64)


class QueryTelemetry(StreamingQueryListener):
    """Takes Java's events as they are. PySpark would copy every field of every query's progress, each by a call of its
    own between the two processes: a fifth of a core at four batches a second.
    """

    class Java:
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)

    def __init__(self, telemetry: StageTelemetry, counters: Iterable[str]) -> None:
        """`counters` are known to be zero from the start: the first event of a kind is then an increase as well."""
        self._telemetry = telemetry
        telemetry.add(**dict.fromkeys(counters, 0))

    @cached_property
    def _jlistener(self) -> JavaObject:
        return SparkContext._jvm.PythonStreamingQueryListenerWrapper(self)  # type: ignore[union-attr]

    def onQueryStarted(self, event: JavaObject) -> None:
        """A start completes nothing."""

    def onQueryIdle(self, event: JavaObject) -> None:
        """Nor does waiting."""

    def onQueryTerminated(self, event: JavaObject) -> None:
        """The first query to end, whichever it is, takes the application with it."""
        self._telemetry.close()


class EnrichTelemetry(QueryTelemetry):
    """Records each completed micro-batch of *enrich* once: Spark reports it when it is committed."""

    def __init__(self, telemetry: StageTelemetry) -> None:
        super().__init__(telemetry, ENRICH_COUNTERS)

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


class TrendingTelemetry(QueryTelemetry):
    """Reports what *trending* left out, under the names of TrendingCounters, and logs it from time to time.

    A batch that runs again is counted again.
    """

    def __init__(self, telemetry: StageTelemetry, counters: TrendingCounters) -> None:
        super().__init__(telemetry, counters._fields)
        self._counters, self._logged_at = counters, -LOG_SECONDS
        self._reported, self._logged = Counter[str](), Counter[str]()

    def onQueryProgress(self, event: JavaObject) -> None:
        counted = Counter({name: counter.value() for name, counter in self._counters._asdict().items()})
        if counted != self._reported:
            self._telemetry.add(**(counted - self._reported))
            self._reported = counted
        if counted != self._logged and time.monotonic() >= self._logged_at + LOG_SECONDS:
            new = counted - self._logged
            log.warning(
                "not ranked: %d tweets behind the watermark (of a clock that was set back, or of a partition that is "
                "behind by more than watermark_slack_s), %d events that cannot be read (parked in %s)",
                new["behind_watermark"], new["parked"], REJECTED,
            )  # fmt: skip
            self._logged, self._logged_at = counted, time.monotonic()


def record_batch(telemetry: StageTelemetry, tally: Tally, completed_us: int) -> None:
    """Counts the batch. Events without a readable stamp, of unknown latency, are the counter `unstamped` only."""
    telemetry.pass_on(**{stage: newest for stage, newest in tally.newest.items() if stage != "enriched"})
    telemetry.add(**tally.counts)
    if tally.instants:
        sent, numbers = sent_at_us(tally)
        telemetry.record(sent, completed_us, numbers)
