"""What is measured of a source: each function makes its own streams, and notes figures as it has them."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from benchmarks.spark_sources.feed import Feed, use_own_pool
from benchmarks.spark_sources.progress import QUANTILES, ended_ms, quantile
from benchmarks.spark_sources.source import AT_LEAST, EVENT, KEY, PARTITIONS, Source
from loadgen.observe.process_cpu import CpuSeconds

EVENT_BYTES = 550
FEED_HEAD_START_S = 3
EPOCH_EVENTS = 100
SLOW_SECONDS = 60
"""For which a second micro-batch is waited for, beyond the measured seconds."""

VISIBLE_SECONDS = 10.0
"""In which readers see what is committed: a sink need not wait for that."""

BATCH_WRITE, BATCH_READ = f"batch write {AT_LEAST}, events/s", "batch read, events/s"
CATCH_UP_READ = "AvailableNow read, events/s"


@dataclass(frozen=True)
class Sizes:
    """Of what is measured."""

    events: int
    rate: int
    """Events per second of the paced micro-batches."""

    settle: int
    seconds: int
    """For which paced micro-batches run before they are measured, and are measured."""

    epochs: tuple[int, int]
    """Small epochs to settle, and those measured."""


class Note(Protocol):
    """Takes figures; `used` are the CPU seconds by process that so many events took."""

    def __call__(self, figures: dict[str, float], used: CpuSeconds | None = None, events: int = 0) -> None: ...


@dataclass(frozen=True)
class Bench:
    spark: SparkSession
    sizes: Sizes
    cpu: Callable[[], CpuSeconds]
    """CPU seconds since the last call, by process."""

    def timed(self, note: Note, what: str, work: Callable[[], Any]) -> None:
        """Notes at which rate all events pass."""
        self.cpu()
        began = time.perf_counter()
        work()
        took = time.perf_counter() - began
        note({what: self.sizes.events / took}, self.cpu(), self.sizes.events)


def events(spark: SparkSession, count: int) -> DataFrame:
    """`count` events of random text: nothing on the way can compress them to almost nothing."""
    text = F.concat(*(F.sha2(F.concat(F.col("id"), F.lit(f"-{n}")), 512) for n in range(5)))
    return spark.range(0, count, 1, PARTITIONS).select(F.substring(text, 1, EVENT_BYTES).alias(EVENT))


def throughput(bench: Bench, source: Source, rows: DataFrame, note: Note) -> None:
    """All events in one batch, then by micro-batches as large as the source's options have them."""
    stream = source.create()
    sink = source.writer(source.into(rows, stream).write.mode("append"), AT_LEAST)
    bench.timed(note, BATCH_WRITE, sink.save)
    await_all(bench, source, stream)
    bench.timed(note, BATCH_READ, lambda: stored_bytes(bench, source, stream))
    lengths = source.read(bench.spark.readStream, stream).select(F.length(EVENT))
    bench.timed(note, CATCH_UP_READ, lambda: available_now(lengths.writeStream.format("noop")))
    for guarantee in source.guarantees:
        target = source.create()
        copied = source.into(source.read(bench.spark.readStream, stream), target).writeStream
        bench.timed(note, catch_up_copy(guarantee), partial(available_now, source.writer(copied, guarantee)))
        await_all(bench, source, target)


def catch_up_copy(guarantee: str) -> str:
    return f"AvailableNow copy {guarantee}, events/s"


def available_now(sink: Any) -> None:
    with TemporaryDirectory() as checkpoint:
        query = sink.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        query.awaitTermination()


def stored_bytes(bench: Bench, source: Source, stream: str) -> int:
    found = source.read(bench.spark.read, stream).agg(F.sum(F.length(EVENT))).first()
    return int(found[0] or 0) if found else 0


def await_all(bench: Bench, source: Source, stream: str) -> None:
    """Raises RuntimeError unless the stream has each event once."""
    deadline, wanted = time.monotonic() + VISIBLE_SECONDS, bench.sizes.events * EVENT_BYTES
    while (found := stored_bytes(bench, source, stream)) != wanted:
        if found > wanted or time.monotonic() > deadline:
            raise RuntimeError(f"{source.name} holds {found} bytes, not {wanted}")
        time.sleep(0.2)


def micro_batches(bench: Bench, source: Source, note: Note) -> None:
    """Copies a paced stream with a trigger of 1 s. A latency lasts from when an event was due until its batch ended."""
    for guarantee in source.guarantees:
        batches, used = copied_batches(bench, source, guarantee)
        copied = sum(each["numInputRows"] for each in batches[1:])
        took = (ended_ms(batches[-1]) - ended_ms(batches[0])) / 1000
        latencies = sorted(
            (ended_ms(each) - due, each["numInputRows"])
            for each in batches for due in each["observedMetrics"]["events"]["due"]
        )
        durations = [each["durationMs"]["triggerExecution"] for each in batches]
        note({
            f"micro-batches {guarantee}, events/s": copied / took,
            f"micro-batch {guarantee}, ms": statistics.median(durations),
            f"event to sink {guarantee}, p50 in ms": quantile(latencies, 0.5),
            f"event to sink {guarantee}, p99 in ms": quantile(latencies, 0.99),
        }, used, sum(each["numInputRows"] for each in batches))


def copied_batches(bench: Bench, source: Source, guarantee: str) -> tuple[list[dict[str, Any]], CpuSeconds]:
    """What Spark tells of the batches that ended within the measured seconds, and the CPU seconds of these."""
    spark, sizes = bench.spark, bench.sizes
    stream, target = source.create(), source.create()
    feed = Feed(spark, source, stream, sizes.rate, EVENT_BYTES)
    feed.start()
    time.sleep(FEED_HEAD_START_S)
    due = F.percentile_approx(F.substring(F.col(EVENT).cast("string"), 1, 13).cast("long"), QUANTILES, 10_000)
    copied = source.into(source.read(spark.readStream, stream).observe("events", due.alias("due")), target)
    use_own_pool(spark, target)
    with TemporaryDirectory() as checkpoint:
        copy = (source.writer(copied.writeStream, guarantee).option("checkpointLocation", checkpoint)
                .trigger(processingTime="1 second").start())
        time.sleep(sizes.settle)
        bench.cpu()
        batches = ended_within(copy, sizes.seconds)
        used = bench.cpu()
        copy.stop()
    feed.stop()
    return batches, used


def ended_within(copy: StreamingQuery, seconds: int) -> list[dict[str, Any]]:
    """Batches with rows that end within so many seconds, or until there are two, which a rate needs."""
    began = time.time()
    while True:
        time.sleep(seconds if time.time() < began + seconds else 1)
        if failure := copy.exception():
            raise failure
        progress = [json.loads(each.json) for each in copy.recentProgress]
        batches = [each for each in progress if each["numInputRows"] and ended_ms(each) >= began * 1000]
        if len(batches) > 1:
            return batches
        if time.time() > began + seconds + SLOW_SECONDS:
            raise RuntimeError(f"{len(batches)} micro-batches in {seconds + SLOW_SECONDS} s")


def small_epochs(bench: Bench, source: Source, note: Note) -> None:
    """What a commit adds to a micro-batch of next to nothing, over those before and after whose rows go nowhere."""
    for partitions, keyed in ((1, False), (PARTITIONS, False), (PARTITIONS, True)):
        rows = small_rows(bench.spark, keyed)
        before = small_epoch_ms(bench, rows.writeStream.format("noop"))
        took = {}
        for guarantee in source.guarantees:
            sink = source.writer(source.into(rows, source.create(partitions)).writeStream, guarantee)
            took[guarantee] = small_epoch_ms(bench, sink)
        nothing = (before + small_epoch_ms(bench, rows.writeStream.format("noop"))) / 2
        for guarantee, ms in took.items():
            note({small_commit(guarantee, partitions, keyed): ms - nothing})


def small_commit(guarantee: str, partitions: int, keyed: bool) -> str:
    keys = "with keys " if keyed else ""
    return f"commit of a small epoch {keys}{guarantee}, {partitions} partition{'s' * (partitions > 1)}, ms"


def small_rows(spark: SparkSession, keyed: bool) -> DataFrame:
    """Micro-batches of EPOCH_EVENTS rows, one after the other; each row may have a key of its own."""
    rows = (spark.readStream.format("rate-micro-batch").option("rowsPerBatch", EPOCH_EVENTS)
            .option("numPartitions", PARTITIONS).load())
    number = F.col("value").cast("string")
    keys = [number.alias(KEY)] if keyed else []
    return rows.select(F.rpad(number, EVENT_BYTES, "x").alias(EVENT), *keys)


def small_epoch_ms(bench: Bench, sink: Any) -> float:
    """Median duration of a micro-batch."""
    settle, measured = bench.sizes.epochs
    with TemporaryDirectory() as checkpoint:
        query = sink.option("checkpointLocation", checkpoint).start()
        while query.isActive and (query.lastProgress or {"batchId": 0})["batchId"] < settle + measured:
            time.sleep(0.2)
        progress = [json.loads(each.json) for each in query.recentProgress]
        if failure := query.exception():
            raise failure
        query.stop()
    settled = [each for each in progress if each["batchId"] > settle and each["numInputRows"]]
    return float(statistics.median(each["durationMs"]["triggerExecution"] for each in settled))


def steps(guarantees: int) -> int:
    """How often a source of so many guarantees notes figures, with those of its warm-up."""
    return 2 * (3 + guarantees) + guarantees + 3 * guarantees
