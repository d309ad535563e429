"""A running instance, driven as a user would: by the command line and by HTTP."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import redis
import requests

from common.settings import Settings
from ingest.manifest import Manifest, read_manifests

ROOT = Path(__file__).parent.parent

PORT_BASE = int(os.environ.get("MURMUR_TEST_PORT_BASE", "23000"))
"""First port of the tests' instances, which take 2000 from here on."""

FUZZ_SECONDS = int(os.environ.get("MURMUR_TEST_FUZZ_SECONDS", "60"))
"""How long each test that sends what comes to mind goes on."""

CAUGHT_UP_S = 5.0

T = TypeVar("T")


def eventually(what: str, probe: Callable[[], T], timeout: float = 60) -> T:
    """The first true answer of `probe`, asked again until `timeout` seconds have passed."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            answer = probe()
        except (requests.RequestException, AssertionError) as error:
            answer = None
            why = f": {error}"
        else:
            why = ""
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen within {timeout} s{why}")
        time.sleep(0.2)


def await_end(command: subprocess.Popen[str], timeout: float) -> None:
    """Returns when a command has ended by itself, and well."""
    _, errors = command.communicate(timeout=timeout)
    assert command.returncode == 0, errors


def lags(stages: Iterable[dict[str, Any]]) -> dict[str, tuple[int, float]] | None:
    """By stage, as the API tells of them, events and seconds by which it lags; None while any of them is unknown."""
    found = {stage["name"]: (stage["lag_events"], stage["lag_seconds"]) for stage in stages}
    return None if any(None in lag for lag in found.values()) else found


def has_caught_up(stages: Iterable[dict[str, Any]], since: float = 0.0) -> bool:
    """Whether every stage is known and lags by little, and has done what was sent before `since` (s since the epoch).

    A stage that has just died lags by little for a while.
    """
    found, least = lags(stages), min(CAUGHT_UP_S, time.time() - since)
    return found is not None and all(seconds < least for _, seconds in found.values())


def kill(pids: Iterable[int]) -> None:
    signal_all(pids, signal.SIGKILL)


@contextmanager
def standing_still(pids: Iterable[int]) -> Iterator[None]:
    """During the block; all of them run before it."""
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        signal_all(pids, signal.SIGCONT)


def signal_all(pids: Iterable[int], sent: signal.Signals) -> None:
    """To each that still runs."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, sent)


class Stack:
    def __init__(self, instance: str, **settings: str) -> None:
        self.instance = instance
        self.environment = {
            **os.environ,
            "MURMUR_PORT_BASE": str(PORT_BASE),
            "MURMUR_RANKING_LIMIT": "5000",
            "MURMUR_SEARCH_CACHE_S": "2",
            "MURMUR_SPARK_DRIVER_MEMORY": "1g",  # it is taken at each start, and there are many
            "MURMUR_EXPERIMENTS_FOLDER": f"instances/{instance}/experiments",  # which goes with it
            **settings,
        }

    def up(self, *options: str) -> None:
        """Begins from nothing."""
        self.down()
        self.murmur("up", *options, timeout=300)

    @contextmanager
    def running(self) -> Iterator[Self]:
        """Begun from nothing, and gone at the end of the block."""
        try:
            self.up()
            yield self
        finally:
            self.down()

    def down(self) -> None:
        self.murmur("down", "--wipe", "--yes", check=False)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A command of `murmur` that goes on while the test does something else."""
        return subprocess.Popen(
            [str(ROOT / "murmur"), *words, "--instance", self.instance],
            env=self.environment, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def murmur(self, *words: str, timeout: float = 180, check: bool = True) -> str:
        process = self.start(*words)
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        if check and process.returncode:
            raise AssertionError(f"murmur {' '.join(words)} ended with {process.returncode}:\n{output}\n{errors}")
        return output

    @contextmanager
    def source(self, rate: int, limit: int | None = None, run: str = "long") -> Iterator[subprocess.Popen[str]]:
        """Synthetic tweets of a run, which come in meanwhile; killed at the end of the block if it goes on."""
        bound = ["--limit", str(limit)] if limit else []
        source = self.start("ingest", "--source", "synthetic", "--rate", str(rate), *bound, "--run", run)
        try:
            yield source
        finally:
            source.kill()
            source.wait()

    def ingest(self, *words: str, timeout: float = 180) -> dict[str, Any]:
        return json.loads(self.murmur("ingest", *words, "--json", timeout=timeout).strip().splitlines()[-1])

    def audit(self, *words: str, timeout: int = 120) -> dict[str, dict[str, int]]:
        """The stages of `murmur audit`; what is missing or twice is for the test to judge."""
        output = self.murmur("audit", *words, "--timeout", str(timeout), "--json", timeout=timeout + 30, check=False)
        found = json.loads(output.strip().splitlines()[-1])
        assert "stages" in found, found
        return found["stages"]

    def audit_is_exact(self, tweets: int, timeout: int) -> None:
        """Fails unless so many tweets were published, and each is once at every stage."""
        stages = self.audit(timeout=timeout)
        found = {name: (stage["expected"], stage["missing"], stage["duplicated"]) for name, stage in stages.items()}
        exact = dict.fromkeys(("published", "enriched", "ranked", "stored", "indexed"), (tweets, 0, 0))
        assert found == exact, stages

    def status(self) -> dict[str, Any]:
        return json.loads(self.murmur("status", "--json"))

    def pids(self) -> dict[str, list[int]]:
        """Process ids by name: a launcher may stand above the process that does the work."""
        return {
            process["name"]: [process["pid"], *(child["pid"] for child in process["children"])]
            for process in self.status()["processes"] if process["pid"]
        }

    def kill(self, name: str) -> None:
        kill(self.pids()[name])

    def acknowledged(self, run: str) -> int:
        """How many events of a run the middleware has acknowledged, by the run's manifest."""
        manifest = self.manifests().get(run)
        return manifest.acknowledged if manifest else 0

    def manifests(self) -> dict[str, Manifest]:
        return read_manifests(self.settings())

    def get(self, path: str, **query: Any) -> Any:
        response = requests.get(f"{self.url}/api/v1/{path}", params=query, timeout=10)
        response.raise_for_status()
        return response.json()

    @property
    def url(self) -> str:
        return self.settings().url

    def settings(self) -> Settings:
        """The settings of the running instance, for a test that reaches behind the command line."""
        return Settings(**json.loads((ROOT / ".murmur" / "instances" / self.instance / "settings.json").read_text()),
                        home=ROOT / ".murmur")

    def wait_for_count(self, bucket_start: int, hashtag: str, count: int) -> None:
        """Returns when Redis shows that count."""
        settings = self.settings()
        client = redis.Redis.from_url(settings.redis_address)
        key = f"{settings.redis_prefix}bucket:{bucket_start}"
        eventually(f"{hashtag!r} reaches {count}", lambda: int(client.hget(key, hashtag) or 0) == count, 30)

    def rows(self, query: str, *values: Any) -> list[tuple]:
        path = self.settings().database_address.removeprefix("sqlite:///")
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            return database.execute(query, values).fetchall()

    def ranking(self, window: str = "1h") -> dict[str, int]:
        return {h["hashtag"]: h["count"] for h in self.get("trending", window=window, limit=5000)["hashtags"]}
