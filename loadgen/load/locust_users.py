"""Locust users beside the tweets: `locust -f loadgen/locustfile.py`, headless, as a process of its own."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from common.process.child import await_end, ends_with_parent
from common.settings import Settings
from common.storage import files
from loadgen.errors import GeneratorFailed

LOCUSTFILE = Path(__file__).parent.with_name("locustfile.py")
STOP_SECONDS = 15.0
INTERRUPTED_SECONDS = 2.0
"""Instead of STOP_SECONDS once the experiment is given up: nobody will look at what they tell."""

AGGREGATED = "Aggregated"
FIGURES = {"50%": "p50", "95%": "p95", "99%": "p99", "100%": "longest"}


class Users:
    """`count` users who watch, listen and search until `finish`; a context that leaves no process behind."""

    def __init__(self, settings: Settings, count: int) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        if not count:
            return
        self._folder = tempfile.TemporaryDirectory(prefix="murmur-users-")
        command = ends_with_parent([
            sys.executable, "-m", "locust", "-f", str(LOCUSTFILE), "--headless", "--host", settings.url,
            "--users", str(count), "--spawn-rate", str(max(1, count / 5)), "--csv", f"{self._folder.name}/users",
            "--loglevel", "WARNING", "Viewer", "Listener", "Searcher",
        ])
        self._log = settings.log_dir / "users.log"
        with files.log_file(self._log, settings.log_max_bytes) as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, "MURMUR_INSTANCE": settings.instance},
            )

    @property
    def pids(self) -> dict[str, int]:
        return {"users": self._process.pid} if self._process else {}

    def check(self) -> None:
        """Raises GeneratorFailed if they have ended by themselves."""
        if self._process and not self._stopped and self._process.poll() is not None:
            raise GeneratorFailed.ended("the users", self._log)

    def stop(self) -> None:
        """Tells them to end, and does not wait."""
        if self._process and not self._stopped:
            self._process.terminate()
        self._stopped = True

    def finish(self) -> dict[str, Any]:
        """Ends the users: requests, failures and latencies in ms by kind of request; empty without users."""
        if not self._process:
            return {}
        self._end(STOP_SECONDS)
        tables = [Path(self._folder.name) / f"users_{table}.csv" for table in ("stats", "failures")]
        return read_stats(*(path.read_text() for path in tables)) if all(map(Path.exists, tables)) else {}

    def _end(self, seconds: float) -> None:
        self.stop()
        if self._process:
            await_end([self._process], seconds)

    def __enter__(self) -> Users:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if self._process:
            self._end(STOP_SECONDS if failure is None else INTERRUPTED_SECONDS)
            self._folder.cleanup()


def read_stats(table: str, failures: str) -> dict[str, Any]:
    """Locust's table of statistics, by name of the request; that of all requests together is "Aggregated".

    `errors` of a request: what failed, from Locust's table of failures, and how often.
    """
    errors: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row in csv.DictReader(failures.splitlines()):
        for name in (row["Name"], AGGREGATED):
            errors[name][row["Error"]] = errors[name].get(row["Error"], 0) + int(row["Occurrences"])
    stats = {}
    for row in csv.DictReader(table.splitlines()):
        stats[row["Name"]] = {
            "requests": int(row["Request Count"]), "failures": int(row["Failure Count"]),
            "errors": errors[row["Name"]],
            "per_s": round(float(row["Requests/s"]), 2),
            "latency_ms": {name: _number(row[column]) for column, name in FIGURES.items()},
        }
    return stats


def _number(text: str) -> float | None:
    return None if text in ("", "N/A") else float(text)
