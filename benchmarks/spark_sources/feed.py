"""Writes events at a rate, beside what is measured."""

from __future__ import annotations

import threading
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from benchmarks.spark_sources.source import AT_LEAST, EVENT, Source

INTERVAL_S = 0.25


class Feed(threading.Thread):
    """Writes what is due, by the clock and not by how fast it goes: an event begins with the ms at which it was due."""

    def __init__(self, spark: SparkSession, source: Source, stream: str, per_second: int, event_bytes: int) -> None:
        super().__init__(daemon=True)
        self._spark, self._source, self._stream = spark, source, stream
        self._per_second, self._event_bytes = per_second, event_bytes
        self._began = time.time()
        self._ended = threading.Event()
        self._failure: Exception | None = None

    def run(self) -> None:
        use_own_pool(self._spark, self.name)
        sent = 0
        try:
            while not self._ended.wait(INTERVAL_S - time.time() % INTERVAL_S):
                due = int((time.time() - self._began) * self._per_second)
                at = F.lit(self._began * 1000) + F.col("id") * (1000 / self._per_second)
                event = F.rpad(at.cast("long").cast("string"), self._event_bytes, "x").alias(EVENT)
                rows = self._source.into(self._spark.range(sent, due, 1, 1).select(event), self._stream)
                self._source.writer(rows.write.mode("append"), AT_LEAST).save()
                sent = due
        except Exception as failure:
            self._failure = failure

    def stop(self) -> None:
        self._ended.set()
        self.join()
        if self._failure:
            raise self._failure


def use_own_pool(spark: SparkSession, name: str) -> None:
    """What this thread starts shares the cores with the others' work instead of waiting for it."""
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", name)
