"""CPU of *trending* by its number of shards: the same tweets, one query after the other, each in a JVM of its own.

    python tests/spark_jobs/benchmark_shards.py [--shards 1 2 4] [--rounds 3] [--rate 8000] [--out FILE]

Synthetic tweets as *enrich* writes them lie in files, a second's worth in each; the query reads a file as a
micro-batch, counts, and gives its rows to a sink that drops them. So stream store and consumers are left out, but rows
are told: each of them costs those. The first batches warm the JVM up and are not counted. `make setup` must have run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from common.settings import Settings
from ingest.sources.synthetic import Synthetic
from ingest.stamp import Stamper
from loadgen.observe.process_cpu import cpu_seconds
from spark_jobs import transforms
from spark_jobs.accept_or_reject import Rules, enrich_event
from spark_jobs.session import spark_session
from tests.spark_jobs.conftest import link_own_jars

WARM_UP, MEASURED = 60, 120
"""Micro-batches, of a second each."""


@dataclass(frozen=True)
class Cost:
    """Of one query: CPU seconds per 1,000 tweets, rows per 1,000 tweets."""

    shards: int
    cpu: float
    rows: float


def make_tweets(folder: Path, seconds: int, rate: int) -> None:
    """A file for each second, whose time in the file system is that of its tweets: Spark reads the oldest first."""
    source, stamp = Synthetic("benchmark", workload="cached"), Stamper("synthetic", "benchmark", 1 << 20)
    rules = Rules(1 << 20, 600, 120, 100)
    begin = int(time.time()) - seconds
    for second in range(begin, begin + seconds):
        sent = [second * 1_000_000 + n * 1_000_000 // rate for n in range(rate)]
        lines = [
            enrich_event(stamp.event(n, us, payload), rules, us).event
            for n, (us, payload) in enumerate(zip(sent, source.take(sent), strict=True))
        ]
        file = folder / str(second)
        file.write_bytes(b"\n".join(lines) + b"\n")
        os.utime(file, (second, second))


def spent_seconds() -> float:
    """CPU seconds of this process and of its JVM."""
    return sum(cpu_seconds({"query": os.getpid()}).values())


def run_once(tweets: Path, folder: Path, shards: int, rate: int) -> Cost:
    """In a process of its own: what the compiler of a JVM has seen is part of what a query costs."""
    settings = Settings(home=folder)
    link_own_jars(settings)
    spark = spark_session(settings, "benchmark")
    spark.conf.set("spark.sql.shuffle.partitions", shards)
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", WARM_UP + MEASURED)
    files, read = sorted(tweets.iterdir()), folder / "read"
    read.mkdir()
    count(spark, link(files[:WARM_UP], read), folder, shards)
    before = spent_seconds()
    rows = count(spark, link(files[WARM_UP:], read), folder, shards)
    spent, counted = spent_seconds() - before, MEASURED * rate
    spark.stop()
    return Cost(shards, round(spent / counted * 1000, 5), round(rows / counted * 1000, 1))


def link(files: list[Path], folder: Path) -> Path:
    for file in files:
        (folder / file.name).hardlink_to(file)
    return folder


def count(spark: SparkSession, tweets: Path, folder: Path, shards: int) -> int:
    """Counts what was not read yet; how many rows the query wrote."""
    lines = spark.readStream.option("maxFilesPerTrigger", 1).text(str(tweets))
    events = lines.selectExpr("cast(value as binary) as event", "0 as partition", "0L as offset")
    rows = transforms.count_hashtags(events, 901, transforms.TrendingCounters.of(spark), shards)
    checkpoint = str(folder / "checkpoint")
    query = rows.writeStream.outputMode("update").format("noop").option("checkpointLocation", checkpoint)
    running = query.trigger(availableNow=True).start()
    running.awaitTermination()
    return sum(progress.sink.numOutputRows for progress in running.recentProgress)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3, help="the order is turned round in every other")
    parser.add_argument("--rate", type=int, default=8000, help="tweets of a micro-batch, which stands for a second")
    parser.add_argument("--out", type=Path, help="file for every single figure, as JSON lines")
    parser.add_argument("--tweets", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.tweets:
        with TemporaryDirectory(dir=chosen.tweets.parent) as folder:
            print(json.dumps(vars(run_once(chosen.tweets, Path(folder), chosen.shards[0], chosen.rate))))
        return
    with TemporaryDirectory() as folder:
        tweets = Path(folder) / "tweets"
        tweets.mkdir()
        make_tweets(tweets, WARM_UP + MEASURED, chosen.rate)
        compare(tweets, chosen)


def compare(tweets: Path, chosen: argparse.Namespace) -> None:
    costs: dict[int, list[float]] = {shards: [] for shards in chosen.shards}
    for number in range(chosen.rounds):
        for shards in chosen.shards[:: -1 if number % 2 else 1]:
            words = [sys.executable, __file__, "--tweets", str(tweets)]
            told = subprocess.run([*words, "--shards", str(shards), "--rate", str(chosen.rate)],
                                  stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1]
            print(told.decode(), flush=True)
            costs[shards].append(json.loads(told)["cpu"])
            if chosen.out:
                with chosen.out.open("ab") as out:
                    out.write(told + b"\n")
    for shards, found in costs.items():
        ratios = [cost / one for cost, one in zip(found, costs[chosen.shards[0]], strict=True)]
        print(f"{shards} shards: {median(found):.5f} s per 1,000, by round {' '.join(f'{r:.3f}' for r in ratios)}, "
              f"median {median(ratios):.3f}")


if __name__ == "__main__":
    main()
