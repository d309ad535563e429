"""One round of one store, whose servers run: `python -m benchmarks.spark_sources.visit SIZES ROUND`, SIZES as JSON.

MURMUR_SETTINGS names the settings of its instance. Writes one JSON object a line: first how many figures will come.
A process of its own, since what Java's compiler has seen of another store is part of what a source costs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from pyspark.sql import SparkSession

from benchmarks.spark_sources import measures
from benchmarks.spark_sources.measures import Bench, Note, Sizes
from benchmarks.spark_sources.source import Source, sources
from common.process import manager
from common.settings import Settings
from loadgen.observe.process_cpu import CpuSeconds, between, cpu_seconds
from middleware.registry import connect

READY_SECONDS = 60
SPARK = "spark"
"""Its process, among the store's."""


def session(settings: Settings) -> SparkSession:
    """Spark as it is, but for what this machine needs: not as the queries of this repository have it."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    jars = sorted(settings.jar_dir.glob(f"spark/{settings.middleware}/*.jar"))
    spark = (
        SparkSession.builder.master("local[*]").appName("benchmark")
        .config("spark.jars", ",".join(map(str, jars))).config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "3g").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1").config("spark.sql.session.timeZone", "UTC")
        .config("spark.scheduler.mode", "FAIR").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    )  # fmt: skip
    spark.sparkContext.setLogLevel("OFF")  # it tells of every stopped query; what fails raises
    return spark


def cpu_of(settings: Settings, spark: SparkSession) -> Callable[[], CpuSeconds]:
    """CPU seconds since the last call: of Spark's JVM, without this process, and of everything that the instance runs.
    """
    java = spark.sparkContext._gateway.proc  # type: ignore[union-attr]
    running = manager.ask(settings).getAllProcessInfo()
    processes = {SPARK: java.pid, **{info["name"]: info["pid"] for info in running if info["pid"]}}
    last = cpu_seconds(processes)

    def since() -> CpuSeconds:
        nonlocal last
        before, last = last, cpu_seconds(processes)
        return between(before, last)

    return since


def tell(**what: object) -> None:
    print(json.dumps(what), flush=True)


def note(
    source: str, kept: bool, figures: dict[str, float], used: CpuSeconds | None = None, events: int = 0,
) -> None:
    cpu = {name: seconds * 1e6 / events for name, seconds in (used or {}).items()} if events else {}
    tell(source=source, kept=kept, figures=figures, cpu=cpu)


def run(bench: Bench, chosen: list[Source]) -> None:
    rows = measures.events(bench.spark, bench.sizes.events).cache()
    rows.count()
    half = replace(bench, sizes=replace(bench.sizes, events=bench.sizes.events // 2))
    some = measures.events(bench.spark, half.sizes.events)
    for source in chosen:  # not kept: Java compiles what it runs, here and in the servers
        measures.throughput(half, source, some, partial(note, source.name, False))
    for source in chosen:
        measures.throughput(bench, source, rows, partial(note, source.name, True))
    rows.unpersist()
    for part in (measures.micro_batches, measures.small_epochs):
        for source in chosen:
            noted: Note = partial(note, source.name, True)
            part(bench, source, noted)


def main() -> None:
    given = json.loads(sys.argv[1])
    sizes, turn = Sizes(**{**given, "epochs": tuple(given["epochs"])}), int(sys.argv[2])
    settings = Settings.load()
    spark = session(settings)
    with connect(settings) as middleware:
        middleware.admin.wait_until_ready(READY_SECONDS)
        chosen = sources(settings.middleware, middleware)[:: -1 if turn % 2 else 1]
        tell(steps=sum(measures.steps(len(source.guarantees)) for source in chosen), spark=spark.version)
        run(Bench(spark, sizes, cpu_of(settings, spark)), chosen)
    spark.stop()


if __name__ == "__main__":
    main()
