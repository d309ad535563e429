"""This data source beside Spark's own for Kafka: the same events, one Spark, one machine, one after the other.

    python benchmark.py --pravega tcp://127.0.0.1:9090 --kafka 127.0.0.1:9092 --jars A.jar,B.jar --out FOLDER

Both servers run already and acknowledge equally durably. Prints a table of medians and ratios and writes it, with every
single figure, to FOLDER/results.json; called again with the same folder, a run adds its figures to the earlier ones.
Needs PySpark 4.1 only. What it writes stays on the servers, under names that begin with `bench-`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from systems import AT_LEAST, EXACTLY, PARTITIONS, System, kafka, pravega

EVENT_BYTES = 550
FEED_INTERVAL_S, FEED_HEAD_START_S = 0.25, 5
EPOCH_EVENTS = 100
EPOCHS = (20, 60)
"""Small epochs to settle, and those measured."""
COMMIT = "commit of a small epoch"

QUANTILES = [(n + 0.5) / 100 for n in range(100)]
"""Of each batch; together they stand for its events."""


def events(spark: SparkSession, count: int) -> DataFrame:
    """`count` events of random text: nothing on the way can compress them to almost nothing."""
    text = F.concat(*(F.sha2(F.concat(F.col("id"), F.lit(f"-{n}")), 512) for n in range(5)))
    return spark.range(0, count, 1, PARTITIONS).select(F.substring(text, 1, EVENT_BYTES).alias("event"))


def stream_name(guarantee: str, attempt: str) -> str:
    return f"{guarantee.replace(' ', '-')}-{attempt}"


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure_writes(
    spark: SparkSession, system: System, rows: DataFrame, count: int, attempt: str
) -> dict[str, float]:
    found = {}
    for guarantee in system.guarantees:
        stream = stream_name(guarantee, attempt)
        system.create(stream, PARTITIONS)
        sink = system.writer(rows.select(F.col("event").alias(system.event)).write.mode("append"), stream, guarantee)
        found[f"write {guarantee}, events/s"] = count / seconds(sink.save)
        if guarantee != AT_LEAST:  # that one is read below
            read_all(spark, system, stream, count)
    return found


def read_all(spark: SparkSession, system: System, stream: str, count: int) -> None:
    found = system.reader(spark.read, stream).load().agg(F.sum(F.length(system.event))).first()
    if found is None or found[0] != count * EVENT_BYTES:
        raise RuntimeError(f"{system.name} holds {found} bytes, not {count} events")


def measure_reads(spark: SparkSession, system: System, count: int, attempt: str) -> dict[str, float]:
    stream = stream_name(AT_LEAST, attempt)

    def available_now() -> None:
        with TemporaryDirectory() as checkpoint:
            rows = system.reader(spark.readStream, stream).load().select(F.length(system.event))
            query = rows.writeStream.format("noop").option("checkpointLocation", checkpoint).trigger(availableNow=True)
            query.start().awaitTermination()

    return {
        "batch read, events/s": count / seconds(lambda: read_all(spark, system, stream, count)),
        "AvailableNow read, events/s": count / seconds(available_now),
    }


@dataclass
class Pace:
    """Of the events that the micro-batches copy."""

    per_second: int
    settle: int
    seconds: int


class Feed(threading.Thread):
    """Writes what is due, by the clock and not by how fast it goes: an event begins with the ms at which it was due."""

    def __init__(self, spark: SparkSession, system: System, stream: str, per_second: int) -> None:
        super().__init__(daemon=True)
        self.spark, self.system, self.stream, self.per_second = spark, system, stream, per_second
        self.began = time.time()
        self.ended = threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        use_own_pool(self.spark, self.name)
        sent = 0
        try:
            while not self.ended.wait(FEED_INTERVAL_S - time.time() % FEED_INTERVAL_S):
                due = int((time.time() - self.began) * self.per_second)
                at = F.lit(self.began * 1000) + F.col("id") * (1000 / self.per_second)
                event = F.rpad(at.cast("long").cast("string"), EVENT_BYTES, "x").alias(self.system.event)
                rows = self.spark.range(sent, due, 1, 1).select(event)
                self.system.writer(rows.write.mode("append"), self.stream, AT_LEAST).save()
                sent = due
        except Exception as failure:
            self.failure = failure

    def stop(self) -> None:
        self.ended.set()
        self.join()
        if self.failure:
            raise self.failure


def measure_micro_batches(spark: SparkSession, system: System, attempt: str, pace: Pace) -> dict[str, float]:
    """Copies a paced stream with a trigger of 1 s. A latency lasts from when an event was due until its batch ended."""
    found: dict[str, float] = {}
    for guarantee in system.guarantees:
        batches = copied_batches(spark, system, guarantee, stream_name(guarantee, attempt), pace)
        copied = sum(each["numInputRows"] for each in batches[1:])
        took = (ended_ms(batches[-1]) - ended_ms(batches[0])) / 1000
        latencies = sorted(
            (ended_ms(each) - due, each["numInputRows"])
            for each in batches for due in each["observedMetrics"]["events"]["due"]
        )
        durations = [each["durationMs"]["triggerExecution"] for each in batches]
        found[f"micro-batches {guarantee}, events/s"] = copied / took
        found[f"micro-batch {guarantee}, ms"] = statistics.median(durations)
        found[f"event to sink {guarantee}, p50 in ms"] = quantile(latencies, 0.5)
        found[f"event to sink {guarantee}, p99 in ms"] = quantile(latencies, 0.99)
    return found


def copied_batches(spark: SparkSession, system: System, guarantee: str, name: str, pace: Pace) -> list[dict[str, Any]]:
    """What Spark tells of the batches that ended within the measured seconds."""
    source, target = f"paced-{name}", f"copied-{name}"
    system.create(source, PARTITIONS)
    system.create(target, PARTITIONS)
    feed = Feed(spark, system, source, pace.per_second)
    feed.start()
    time.sleep(FEED_HEAD_START_S)
    due = F.percentile_approx(F.substring(F.col(system.event).cast("string"), 1, 13).cast("long"), QUANTILES, 10_000)
    copied = system.reader(spark.readStream, source).load().select(system.event).observe("events", due.alias("due"))
    use_own_pool(spark, name)
    with TemporaryDirectory() as checkpoint:
        copy = (system.writer(copied.writeStream, target, guarantee).option("checkpointLocation", checkpoint)
                .trigger(processingTime="1 second").start())
        time.sleep(pace.settle)
        began = time.time() * 1000
        time.sleep(pace.seconds)
        progress = [json.loads(each.json) for each in copy.recentProgress]
        if failure := copy.exception():
            raise failure
        copy.stop()
    feed.stop()
    return [each for each in progress if each["numInputRows"] and ended_ms(each) >= began]


def measure_small_epochs(spark: SparkSession, system: System, attempt: str) -> dict[str, float]:
    """What a commit adds to a micro-batch of next to nothing, over those before and after whose rows go nowhere."""
    found = {}
    for guarantee in system.guarantees:
        for partitions, keys in ((1, ""), (PARTITIONS, ""), (PARTITIONS, "with keys ")):
            target = f"small-{partitions}-{keys.replace(' ', '-')}{stream_name(guarantee, attempt)}"
            system.create(target, partitions)
            into = partial(system.writer, stream=target, guarantee=guarantee)
            before, took, after = (
                small_epoch_ms(spark, sink, bool(keys)) for sink in (into_nothing, into, into_nothing)
            )
            what = f"{COMMIT} {keys}{guarantee}, {partitions} partitions, ms"
            found[what] = took - (before + after) / 2
    return found


def into_nothing(sink: Any) -> Any:
    return sink.format("noop")


def small_epoch_ms(spark: SparkSession, into: Callable[[Any], Any], keyed: bool) -> float:
    """Median duration of a micro-batch of EPOCH_EVENTS rows, one after the other; each may have a key of its own."""
    rows = (spark.readStream.format("rate-micro-batch").option("rowsPerBatch", EPOCH_EVENTS)
            .option("numPartitions", PARTITIONS).load())
    number = F.col("value").cast("string")
    text = F.rpad(number, EVENT_BYTES, "x")
    keys = [number.alias("routing_key"), number.alias("key")] if keyed else []
    with TemporaryDirectory() as checkpoint:
        query = (into(rows.select(text.alias("event"), text.alias("value"), *keys).writeStream)
                 .option("checkpointLocation", checkpoint).start())
        while query.isActive and (query.lastProgress or {"batchId": 0})["batchId"] < sum(EPOCHS):
            time.sleep(0.2)
        progress = [json.loads(each.json) for each in query.recentProgress]
        if failure := query.exception():
            raise failure
        query.stop()
    settled = [each for each in progress if each["batchId"] > EPOCHS[0] and each["numInputRows"]]
    return float(statistics.median(each["durationMs"]["triggerExecution"] for each in settled))


def use_own_pool(spark: SparkSession, name: str) -> None:
    """What this thread starts shares the cores with the others' work instead of waiting for it."""
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", name)


def ended_ms(progress: dict[str, Any]) -> float:
    """When a batch ended, in ms since the epoch."""
    took_ms: float = progress["durationMs"]["triggerExecution"]
    return datetime.fromisoformat(progress["timestamp"]).timestamp() * 1000 + took_ms


def quantile(pairs: Sequence[tuple[float, float]], part: float) -> float:
    """Of (value, weight), sorted."""
    rest = part * sum(weight for _, weight in pairs)
    for value, weight in pairs:
        rest -= weight
        if rest <= 0:
            return value
    return pairs[-1][0]


def table(figures: dict[str, dict[str, list[float]]]) -> str:
    """Medians, and the ratio of the first system to the best of the others.

    Where a sink of theirs has no exactly once, it is beside what it has. A commit is a difference of two medians, which
    may be nothing: no ratio.
    """
    first, *others = figures
    lines = [f"| | {' | '.join(figures)} | {first} : best other |", "| --- " * (len(figures) + 2) + "|"]
    for what, found in figures[first].items():
        one = statistics.median(found)
        theirs = [statistics.median(figures[other][what.replace(EXACTLY, AT_LEAST)]) for other in others]
        best = max(theirs) if what.endswith("/s") else min(theirs)
        ratio = "–" if what.startswith(COMMIT) else f"{one / best:.2f}"
        lines.append(f"| {what} | {' | '.join(f'{each:,.0f}' for each in (one, *theirs))} | {ratio} |")
    return "\n".join(lines)


def write_results(out: Path, systems: list[System], setting: dict[str, Any]) -> str:
    file = out / "results.json"
    earlier = json.loads(file.read_text()) if file.exists() else {"setting": setting, "figures": {}}
    if earlier["setting"] != setting:
        raise SystemExit(f"{file} holds figures of another setting: {earlier['setting']}")
    figures: dict[str, dict[str, list[float]]] = earlier["figures"]
    for system in systems:
        known = figures.setdefault(system.name, {})
        for what, found in system.figures.items():
            known[what] = known.get(what, []) + found
    result = table(figures)
    out.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"setting": setting, "figures": figures, "table": result}, indent=2) + "\n")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pravega", required=True, help="address of Pravega's controller")
    parser.add_argument("--kafka", required=True, help="bootstrap servers")
    parser.add_argument("--jars", required=True, help="both data sources, with commas between")
    parser.add_argument("--out", required=True, type=Path, help="folder of results.json")
    parser.add_argument("--events", type=int, default=1_000_000, help="of each batch write and read")
    parser.add_argument("--repeat", type=int, default=3, help="odd, so that the median is a measured figure")
    parser.add_argument("--only", choices=("throughput", "micro-batches", "small-epochs"), help="one of the parts")
    parser.add_argument("--rate", type=int, default=20_000, help="events per second of the micro-batches")
    parser.add_argument("--seconds", type=int, default=30, help="for which micro-batches are measured")
    parser.add_argument("--settle", type=int, default=15, help="seconds of micro-batches before that")
    given = parser.parse_args()
    spark = (
        SparkSession.builder.master("local[*]").appName("benchmark")
        .config("spark.jars", given.jars).config("spark.ui.enabled", "false").config("spark.driver.memory", "3g")
        .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC").config("spark.scheduler.mode", "FAIR")
        .config("spark.ui.showConsoleProgress", "false").getOrCreate()
    )  # fmt: skip
    spark.sparkContext.setLogLevel("OFF")  # it tells of every stopped query; what fails raises
    systems = [pravega(given.pravega, spark), *(kafka(given.kafka, spark, tuned) for tuned in (False, True))]
    if given.only in (None, "throughput"):
        rows = events(spark, given.events).cache()
        rows.count()
        for system in systems:  # not noted: Java compiles what it runs, here and in the servers
            measure_writes(spark, system, rows, given.events, "warm-up")
            measure_reads(spark, system, given.events, "warm-up")
        for attempt in map(str, range(given.repeat)):
            for system in systems:
                system.note(measure_writes(spark, system, rows, given.events, attempt))
                system.note(measure_reads(spark, system, given.events, attempt))
        rows.unpersist()
    if given.only in (None, "micro-batches"):
        pace = Pace(given.rate, given.settle, given.seconds)
        for attempt in map(str, range(given.repeat)):
            for system in systems:
                system.note(measure_micro_batches(spark, system, attempt, pace))
    if given.only in (None, "small-epochs"):
        for system in systems:  # not noted either
            measure_small_epochs(spark, system, "warm-up")
        for attempt in map(str, range(given.repeat)):
            for system in systems:
                system.note(measure_small_epochs(spark, system, attempt))
    print(write_results(given.out, systems, {
        "events": given.events, "event_bytes": EVENT_BYTES, "partitions": PARTITIONS, "events_per_s": given.rate,
        "spark": spark.version, "system": platform.platform(), "machine": platform.machine(), "cores": os.cpu_count(),
    }))  # fmt: skip
    spark.stop()


if __name__ == "__main__":
    main()
