"""Pravega's data source beside Spark's own for Kafka: the same events, one Spark, one machine, in alternation.

    python benchmark.py --pravega tcp://127.0.0.1:9090 --kafka 127.0.0.1:9092 --jars A.jar,B.jar --out FOLDER

Both servers run already, in the same class of durability. Prints a table of medians and ratios and writes it, with
every single figure, to FOLDER/results.json. Needs pyspark 4.1 only; what it writes to the servers is of names of its
own, which begin with `bench-`.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

EVENT_BYTES, PARTITIONS = 550, 4
PACE, PACED_SECONDS, SETTLE_SECONDS = 20_000, 30, 15
"""Events per second of the micro-batches, and how long they are measured after how long."""

QUANTILES = [(n + 0.5) / 100 for n in range(100)]


@dataclass
class System:
    """How one middleware is named, reached and written to."""

    name: str
    options: dict[str, str]
    event: str
    read_from: Callable[[str], dict[str, str]]
    write_to: Callable[[str], dict[str, str]]
    create: Callable[[str], None]
    guarantees: dict[str, dict[str, str]]
    """Of a write: name → options."""

    figures: dict[str, list[float]] = field(default_factory=dict)

    def reader(self, source: Any, stream: str) -> Any:
        return source.format(self.name).options(**self.options, **self.read_from(stream))

    def writer(self, sink: Any, stream: str, guarantee: str) -> Any:
        return sink.format(self.name).options(**self.options, **self.write_to(stream), **self.guarantees[guarantee])

    def note(self, what: str, figure: float) -> None:
        self.figures.setdefault(what, []).append(figure)
        print(f"{self.name:>8}  {what}: {figure:,.1f}", flush=True)


def pravega(controller: str) -> System:
    scope = f"bench-{uuid.uuid4().hex[:8]}"
    return System(
        "pravega",
        {"controller": controller, "scope": scope, "default_num_segments": str(PARTITIONS)},
        "event",
        read_from=lambda stream: {"stream": stream, "start_stream_cut": "earliest"},
        write_to=lambda stream: {"stream": stream},
        create=lambda stream: None,  # the sink does
        guarantees={"exactly once": {}, "at least once": {"exactly_once": "false"}},
    )


def kafka(servers: str, spark: SparkSession) -> System:
    prefix = f"bench-{uuid.uuid4().hex[:8]}"

    def create(stream: str) -> None:
        java: Any = spark._jvm
        settings = java.java.util.Properties()
        settings.put("bootstrap.servers", servers)
        admin = java.org.apache.kafka.clients.admin.AdminClient.create(settings)
        topic = java.org.apache.kafka.clients.admin.NewTopic(f"{prefix}-{stream}", PARTITIONS, 1)
        admin.createTopics(java.java.util.List.of(topic)).all().get()
        admin.close()

    return System(
        "kafka",
        {"kafka.bootstrap.servers": servers},
        "value",
        read_from=lambda stream: {"subscribe": f"{prefix}-{stream}", "startingOffsets": "earliest"},
        write_to=lambda stream: {"topic": f"{prefix}-{stream}", "kafka.acks": "all"},
        create=create,
        guarantees={"at least once": {}},
    )


def events(spark: SparkSession, count: int) -> DataFrame:
    """`count` events of random text: nothing on the way can compress them to almost nothing."""
    text = F.concat(*(F.sha2(F.concat(F.col("id"), F.lit(f"-{n}")), 512) for n in range(5)))
    return spark.range(0, count, 1, PARTITIONS).select(F.substring(text, 1, EVENT_BYTES).alias("event")).cache()


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure_writes(system: System, rows: DataFrame, count: int, attempt: int) -> None:
    for guarantee in system.guarantees:
        stream = f"{guarantee.replace(' ', '-')}-{attempt}"
        system.create(stream)
        sink = system.writer(rows.select(F.col("event").alias(system.event)).write.mode("append"), stream, guarantee)
        system.note(f"write {guarantee}, events/s", count / seconds(sink.save))


def measure_reads(spark: SparkSession, system: System, count: int, attempt: int) -> None:
    stream = f"at-least-once-{attempt}"

    def batch() -> None:
        found = system.reader(spark.read, stream).load().agg(F.sum(F.length(system.event))).first()
        if found is None or found[0] != count * EVENT_BYTES:
            raise RuntimeError(f"{system.name} holds {found} bytes, not {count} events")

    system.note("batch read, events/s", count / seconds(batch))
    with TemporaryDirectory() as checkpoint:
        rows = system.reader(spark.readStream, stream).load().select(F.length(system.event))
        query = rows.writeStream.format("noop").option("checkpointLocation", checkpoint).trigger(availableNow=True)
        system.note("AvailableNow read, events/s", count / seconds(lambda: query.start().awaitTermination()))


def measure_micro_batches(spark: SparkSession, system: System, attempt: int) -> None:
    """Copies a paced stream with a trigger of 1 s, as safely as the sink can; latency is from event to written."""
    source, target = f"paced-{attempt}", f"copied-{attempt}"
    system.create(source)
    system.create(target)
    paced = spark.readStream.format("rate").option("rowsPerSecond", PACE).option("numPartitions", 2).load()
    made = paced.select(F.rpad(F.unix_micros("timestamp").cast("string"), EVENT_BYTES, "x").alias(system.event))
    with TemporaryDirectory() as checkpoints:
        feed = start(system.writer(made.writeStream, source, "at least once"),
                     checkpoints + "/feed", "200 milliseconds")
        time.sleep(3)  # the source exists before it is read
        copied = system.reader(spark.readStream, source).load().select(system.event)
        at = F.substring(F.col(system.event).cast("string"), 1, 16).cast("long")
        copied = copied.observe("events", F.percentile_approx(at, QUANTILES, 10_000).alias("at"))
        copy = start(system.writer(copied.writeStream, target, next(iter(system.guarantees))),
                     checkpoints + "/copy", "1 second")
        time.sleep(SETTLE_SECONDS + PACED_SECONDS)
        progress = [json.loads(each.json) for each in copy.recentProgress][-PACED_SECONDS:]
        copy.stop()
        feed.stop()
    batches = [each for each in progress if each["numInputRows"]]
    latencies = sorted(
        written_us(each) / 1000 - at / 1000 for each in batches for at in each["observedMetrics"]["events"]["at"]
    )
    system.note("micro-batch, ms", statistics.median(each["durationMs"]["triggerExecution"] for each in batches))
    system.note("event to sink p50, ms", latencies[len(latencies) // 2])
    system.note("event to sink p99, ms", latencies[len(latencies) * 99 // 100])


def start(sink: Any, checkpoint: str, interval: str) -> StreamingQuery:
    return sink.option("checkpointLocation", checkpoint).trigger(processingTime=interval).start()


def written_us(progress: dict[str, Any]) -> float:
    """When a batch ended, in µs since the epoch."""
    began = datetime.fromisoformat(progress["timestamp"]).timestamp()
    return began * 1e6 + progress["durationMs"]["triggerExecution"] * 1000


def table(systems: list[System]) -> str:
    """Medians, and ratios to Kafka; the exactly-once write stands beside Kafka's at-least-once write."""
    ours, theirs = systems
    lines = ["| | Pravega | Kafka | Pravega : Kafka |", "| --- | --- | --- | --- |"]
    for what, figures in ours.figures.items():
        one = statistics.median(figures)
        other = statistics.median(theirs.figures[what.replace("exactly once", "at least once")])
        lines.append(f"| {what} | {one:,.0f} | {other:,.0f} | {one / other:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pravega", required=True, help="address of Pravega's controller")
    parser.add_argument("--kafka", required=True, help="bootstrap servers")
    parser.add_argument("--jars", required=True, help="both data sources, with commas between")
    parser.add_argument("--out", required=True, type=Path, help="folder of results.json")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3, help="odd, so that the median is a measured figure")
    given = parser.parse_args()
    spark = (
        SparkSession.builder.master("local[*]").appName("benchmark")
        .config("spark.jars", given.jars).config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
        .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC").getOrCreate()
    )  # fmt: skip
    spark.sparkContext.setLogLevel("ERROR")
    systems = [pravega(given.pravega), kafka(given.kafka, spark)]
    rows = events(spark, given.events)
    rows.count()
    for attempt in range(given.repeat):
        for system in systems:
            measure_writes(system, rows, given.events, attempt)
            measure_reads(spark, system, given.events, attempt)
            measure_micro_batches(spark, system, attempt)
    result = table(systems)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "results.json").write_text(json.dumps({
        "host": {"machine": platform.processor() or platform.machine(), "system": platform.platform()},
        "spark": spark.version, "events": given.events, "event_bytes": EVENT_BYTES, "partitions": PARTITIONS,
        "figures": {system.name: system.figures for system in systems}, "table": result,
    }, indent=2) + "\n")
    print(result)
    spark.stop()


if __name__ == "__main__":
    main()
