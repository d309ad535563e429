"""Spark's data sources beside each other: the same events, one machine, one store at a time, in turns.

    python -m benchmarks.spark_sources --repeat 3 --out FOLDER

Starts and removes the servers by itself, as instances `bench-NAME` of this checkout, which must be set up. README.md
tells what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyspark

from benchmarks.spark_sources.instance import ROOT, NotStarted, servers
from benchmarks.spark_sources.measures import EVENT_BYTES, Sizes
from benchmarks.spark_sources.results import OtherSetting, Results
from benchmarks.spark_sources.source import PARTITIONS
from common.settings import Settings
from loadgen.observe import environment
from middleware.registry import registry

LOG = "spark.log"
START_STEPS = 4
"""As how many measurements the start of servers and Spark counts where it is told how much is left."""


class VisitFailed(Exception):
    """A round of a store has not come to its end; the message names the log."""


def measured(settings: Settings, sizes: Sizes, turn: int, log: Path) -> Iterator[dict[str, Any]]:
    """What a visit tells, as it tells it. Raises VisitFailed."""
    command = [sys.executable, "-m", "benchmarks.spark_sources.visit", json.dumps(asdict(sizes)), str(turn)]
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    with log.open("ab") as errors:
        visit = subprocess.Popen(
            command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=errors,
            env={**os.environ, "MURMUR_SETTINGS": str(settings.settings_file), "PYTHONPATH": path},
        )
    try:
        for line in visit.stdout or ():
            if line.startswith("{"):
                yield json.loads(line)
        if visit.wait():
            raise VisitFailed(f"{settings.middleware} ended with {visit.returncode}: {log} tells why")
    finally:
        visit.kill()
        visit.wait()


def remaining(share: float, elapsed: float) -> str:
    """What is left to do, given which share is done after so many seconds."""
    return f"{elapsed / 60:.0f} min, about {elapsed * (1 - share) / share / 60:.0f} left" if share else "begins"


def show(source: str, found: dict[str, Any], when: str) -> None:
    warm_up = "" if found["kept"] else " (warm-up)"
    for what, figure in found["figures"].items():
        print(f"[{when}] {source}: {what}: {figure:,.1f}{warm_up}", flush=True)


def measure_all(names: list[str], repeat: int, sizes: Sizes, results: Results) -> list[str]:
    """What failed, for the end: the other stores and rounds go on."""
    began, turns = time.monotonic(), [(turn, name) for turn in range(repeat) for name in names[:: 1 - 2 * (turn % 2)]]
    failures = []
    for visited, (turn, name) in enumerate(turns):
        def when(share: float, visited: int = visited) -> str:
            return remaining((visited + share) / len(turns), time.monotonic() - began)

        print(f"[{when(0)}] round {turn + 1} of {repeat}: {name}", flush=True)
        try:
            with servers(name) as settings:
                visit(measured(settings, sizes, turn, results.file.with_name(LOG)), results, when)
        except (NotStarted, VisitFailed) as failure:
            failures.append(f"round {turn + 1}: {failure}")
            print(failures[-1], file=sys.stderr, flush=True)
    return failures


def visit(told: Iterator[dict[str, Any]], results: Results, when: Callable[[float], str]) -> None:
    """Notes what is measured, as it comes."""
    steps = START_STEPS + next(told, {}).get("steps", 1)
    for done, found in enumerate(told, START_STEPS + 1):
        show(found["source"], found, when(done / steps))
        if found["kept"]:
            results.add(found["source"], found["figures"], found["cpu"])


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark_sources",
                                     description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--middleware", type=names_of, default=list(registry()), help="names with commas between; "
                        f"default: {','.join(registry())}")
    parser.add_argument("--out", required=True, type=Path, help="folder of results.json and tables.md; figures of an "
                        "earlier run with the same setting stay, and these are added")
    parser.add_argument("--repeat", type=int, default=3, help="rounds; odd, so that a median is a measured figure")
    parser.add_argument("--events", type=int, default=500_000, help="of each batch write, read and copy")
    parser.add_argument("--rate", type=int, default=20_000, help="events per second of the paced micro-batches")
    parser.add_argument("--settle", type=int, default=8, help="seconds of these before they are measured")
    parser.add_argument("--seconds", type=int, default=12, help="for which they are measured")
    parser.add_argument("--epochs", type=int, nargs=2, default=(10, 25), metavar=("SETTLE", "MEASURED"),
                        help="small epochs before they are measured, and those measured")
    return parser


def names_of(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(registry()):
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: not among {', '.join(registry())}")
    return names


def setting(sizes: Sizes) -> dict[str, Any]:
    """All that figures depend on, beside the store: those of another one are not added to."""
    host = environment.host(Settings.chosen())
    return {
        **asdict(sizes), "epochs": list(sizes.epochs), "event_bytes": EVENT_BYTES, "partitions": PARTITIONS,
        "durability": "fsync", "spark": pyspark.__version__, "commit": environment.commit(),
        **{name: host[name] for name in ("cpu", "cores", "memory_bytes", "kernel", "system", "file_system")},
    }


def main() -> None:
    given = arguments().parse_args()
    sizes = Sizes(given.events, given.rate, given.settle, given.seconds, tuple(given.epochs))
    out = given.out.resolve()
    os.environ.setdefault("MURMUR_HOME", str(ROOT / ".murmur"))
    out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # the servers go, as with Ctrl-C
    try:
        results = Results.beside(out / "results.json", setting(sizes))
    except OtherSetting as error:
        raise SystemExit(str(error)) from error
    failures = measure_all(given.middleware, given.repeat, sizes, results)
    tables = f"{results.table()}\n\nCPU seconds per million events\n\n{results.cpu_table()}\n"
    (out / "tables.md").write_text(tables)
    print(tables)
    if failures:
        sys.exit("\n".join(("not all was measured:", *failures)))


if __name__ == "__main__":
    main()
