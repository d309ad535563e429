"""`make compose-test`: each Compose file is brought up and fed through Nginx; the main process of each container is
killed. Then the same with its profiles.

Needs a Docker daemon and `docker-compose` (1.29 or 2), and fails without. `MURMUR_TEST_COMPOSE_RATE` tweets a second
come in meanwhile, 2,000 unless told, and half as many where every profile is up: three copies of all, on one machine.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests
import yaml

from deploy.containers import compose
from deploy.containers.compose import in_container
from deploy.local.processes.spec import Process
from middleware.registry import driver
from tests.stack import PORT_BASE, ROOT, eventually, has_caught_up, lags

RATE = int(os.environ.get("MURMUR_TEST_COMPOSE_RATE", "2000"))
PAGE, LOCUST, PROMETHEUS = (PORT_BASE + 1950 + n for n in range(3))
TOKEN = "of-the-trial"
INVENTED = ROOT / "tests" / "data" / "tweets.jsonl"

pytestmark = pytest.mark.timeout(3600)

FILES = [name for name, _ in compose.files()]
BESIDE = {"postgres": "postgres", "observability": "prometheus", "load": "locust"}
"""By profile, the service that it adds beside processes of the instance."""

log = logging.getLogger(__name__)


class Composed:
    """An instance as containers, driven by Docker's commands and by the page's port."""

    url = f"http://127.0.0.1:{PAGE}"

    def __init__(self, file: str, profiles: str, **environment: str) -> None:
        command = shutil.which("docker-compose")
        self.file = file
        self._compose = [command] if command else ["docker", "compose"]
        self._environment = {
            **os.environ, "COMPOSE_FILE": file, "COMPOSE_PROJECT_NAME": "murmuration-trial",
            "COMPOSE_PROFILES": profiles, "MURMURATION_PORT": str(PAGE), "MURMURATION_LOCUST_PORT": str(LOCUST),
            "MURMURATION_PROMETHEUS_PORT": str(PROMETHEUS), "MURMUR_INGEST_TOKEN": TOKEN, **environment,
        }

    def compose(self, *words: str, seconds: float = 120, ends: Collection[int] = (0,)) -> str:
        """What it prints. `ends`: the statuses with which it may end."""
        return self._ran([*self._compose, *words], seconds, ends)

    def docker(self, *words: str, seconds: float = 60) -> str:
        return self._ran(["docker", *words], seconds)

    def processes(self) -> list[Process]:
        """Those of the instance that are containers, the profile's included."""
        settings = in_container(self.middleware)
        profiles = ("", *self._environment["COMPOSE_PROFILES"].split(","))
        return [one for one, profile in compose.processes(settings) if profile in profiles]

    @property
    def middleware(self) -> str:
        return str(yaml.safe_load((ROOT / self.file).read_text())["x-process"]["environment"]["MURMUR_MIDDLEWARE"])

    def container(self, service: str) -> str:
        return self.compose("ps", "-q", service).strip()

    def state(self, service: str) -> dict[str, Any]:
        """What Docker tells of the container: pid, whether it runs, how often it was started again."""
        found = json.loads(self.docker("inspect", self.container(service)))[0]
        return {**found["State"], "RestartCount": found["RestartCount"]}

    def main_process(self, service: str) -> psutil.Process:
        """What the container's first process, which only ends it, has started."""
        (found,) = psutil.Process(self.state(service)["Pid"]).children()
        return found

    def stages(self) -> Any:
        answer = requests.get(f"{self.url}/api/v1/pipeline", timeout=5)
        answer.raise_for_status()
        return answer.json()["stages"]

    def has_caught_up(self, since: float = 0.0) -> bool:
        return has_caught_up(self.stages(), since)

    def is_ready(self) -> bool:
        return requests.get(f"{self.url}/readyz", timeout=5).status_code == 200

    def push(self, tweets: list[dict[str, Any]]) -> int:
        """Status of the answer to a POST through Nginx."""
        body = "\n".join(map(json.dumps, tweets))
        return requests.post(
            f"{self.url}/api/v1/tweets", data=body.encode(), timeout=60,
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/x-ndjson"},
        ).status_code

    def run(self, *words: str, seconds: float = 450, ends: Collection[int] = (0,)) -> str:
        """The last line that a command prints."""
        return self.compose("run", "--rm", "-T", "murmur", *words, seconds=seconds, ends=ends).strip().splitlines()[-1]

    def audit(self) -> dict[str, tuple[int, int, int]]:
        """By stage: expected, missing, twice."""
        stages = json.loads(self.run("audit", "--json", "--timeout", "400"))["stages"]
        return {name: (stage["expected"], stage["missing"], stage["duplicated"]) for name, stage in stages.items()}

    def _ran(self, command: list[str], seconds: float, ends: Collection[int] = (0,)) -> str:
        done = subprocess.run(command, cwd=ROOT, env=self._environment, capture_output=True, text=True, timeout=seconds)
        told = f"{done.stdout}\n{done.stderr}"
        assert done.returncode in ends, f"{' '.join(command)} ended with {done.returncode}:\n{told}"
        return done.stdout


@contextmanager
def composed(file: str, profiles: str = "", **environment: str) -> Iterator[Composed]:
    one = Composed(file, profiles, **environment)
    one.docker("info")
    began = time.monotonic()
    one.compose("build", seconds=3600)
    log.info("%s: built in %.0f s", file, time.monotonic() - began)
    one.compose("down", "--volumes", "--timeout", "10")
    try:
        began = time.monotonic()
        beside = [service for profile, service in BESIDE.items() if profile in profiles.split(",")]
        one.compose("up", "--detach", *(process.name for process in one.processes()), *beside, seconds=300)
        eventually("the page is there", one.is_ready, 300)
        log.info("%s %s: up in %.0f s", file, profiles, time.monotonic() - began)
        yield one
    finally:
        log.info("%s", one.compose("logs", "--tail", "3"))
        one.compose("down", "--volumes", "--timeout", "10")


def of_now(line: str) -> dict[str, Any]:
    """An invented payload whose tweet is dated now: older ones are not ranked."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    payload = json.loads(line)
    return {**payload, "data": {**payload["data"], "created_at": now}}


def push_invented(one: Composed) -> int:
    """How many."""
    tweets = [of_now(line) for line in INVENTED.read_text().splitlines()]
    eventually("tweets are taken", lambda: one.is_ready() and one.push(tweets) == 200, 300)
    return len(tweets)


@contextmanager
def source(one: Composed, rate: int) -> Iterator[None]:
    """Tweets come in, by a container that does not end by itself."""
    name = one.compose(
        "run", "--detach", "murmur", "ingest", "--source", "synthetic", "--rate", str(rate), "--run", "long"
    ).strip().splitlines()[-1]
    try:
        yield
        assert json.loads(one.docker("inspect", name))[0]["State"]["Running"], one.docker("logs", name)
    finally:
        one.docker("stop", "--time", "60", name, seconds=90)
        log.info("%s", one.docker("logs", "--tail", "2", name))
        one.docker("rm", name)


def kill(one: Composed, service: str) -> None:
    """The main process of a container, from outside: it comes back by its restart policy, and everything is served."""
    eventually("all stages have caught up", one.has_caught_up, 300)
    before, waiting = one.state(service), eventually("tweets are in flight", lambda: in_flight(one), 60)
    began = time.monotonic()
    one.main_process(service).send_signal(signal.SIGKILL)
    eventually(f"{service} is started again", lambda: (
        one.state(service)["Running"] and one.state(service)["RestartCount"] > before["RestartCount"]), 120)
    again = time.time()
    eventually("all stages have caught up", lambda: one.has_caught_up(again), 300)
    took = time.monotonic() - began
    push_one(one)
    log.info("%s killed with %s waiting: caught up %.0f s later", service, waiting, took)


def in_flight(one: Composed) -> dict[str, int]:
    """By stage, how many tweets it lags by; empty while there are none, or it is unknown."""
    return {stage: events for stage, (events, _) in (lags(one.stages()) or {}).items() if events}


def push_one(one: Composed) -> None:
    """A tweet with an id that none had before is taken through Nginx, in time."""
    payload = of_now(INVENTED.read_text().splitlines()[0])
    tweet = {**payload, "data": {**payload["data"], "id": str(time.time_ns())}}
    eventually("a push is taken", lambda: one.is_ready() and one.push([tweet]) == 200, 300)


def listening(pid: int) -> set[int]:
    """Ports that others reach in the network of that process: as the kernel shows them, in state 0A, at all zeros."""
    lines = [line.split() for table in ("tcp", "tcp6")
             for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]]
    places = [local.partition(":") for _, local, _, state, *_ in lines if state == "0A"]
    return {int(port, 16) for host, _, port in places if not int(host, 16)}


def exact(one: Composed, least: int) -> None:
    found = one.audit()
    assert found["published"][0] >= least
    assert {name: wrong for name, (_, *wrong) in found.items()} == {name: [0, 0] for name in found}
    log.info("audit exact: %s", found)


@pytest.mark.parametrize("file", FILES)
def test_each_container_is_killed_and_every_tweet_is_there_once(file: str) -> None:
    with composed(file) as one:
        pushed = push_invented(one)
        settings = in_container(one.middleware)
        for process in one.processes():
            wanted = {settings.port(*listener) for listener in process.listens}
            pid = one.state(process.name)["Pid"]
            eventually(f"{process.name} listens at {wanted}", lambda: wanted <= listening(pid), 60)  # noqa: B023
        with source(one, RATE):
            for process in one.processes():
                kill(one, process.name)
            for stopped in ("web-0", "web-1"):  # each of them alone answers
                one.compose("stop", stopped)
                eventually("the other answers", one.is_ready, 60)
                one.compose("up", "--detach", stopped)
        exact(one, pushed + 10 * RATE)
        one.compose("stop", seconds=120)
        one.compose("up", "--detach", seconds=300)
        push_one(one)
        exact(one, pushed + 10 * RATE)
        burst = ("--rate", "100", "--seconds", "10", "--warm-up", "0", "--slo-ms", "60000")
        found = json.loads(one.run("load", "run", *burst, "--json", ends=(0, 1)))  # 1: the machine is slow
        assert found["cpu_seconds_per_1000"] is None
        assert found["audit"]["published"]["missing"] == 0
        log.info("load run in a container: %s", found["verdict"])


@pytest.mark.parametrize("file", FILES)
def test_with_every_profile_of_ours(file: str) -> None:
    """Three copies of each event where the store has them, tweets in PostgreSQL, figures in Prometheus, Locust's
    page."""
    database = "postgresql+psycopg://murmur:murmur@postgres/postgres"
    replicated = bool(driver(Composed(file, "").middleware).replicated)
    profiles = ",".join((*(["cluster"] if replicated else []), *BESIDE))
    with composed(file, profiles, MURMUR_REPLICAS="3" if replicated else "1", MURMUR_DATABASE_URL=database) as one:
        pushed = push_invented(one)
        assert requests.get(f"http://127.0.0.1:{LOCUST}/", timeout=10).status_code == 200
        eventually("Prometheus has figures", lambda: figures("murmur_stage_tweets_total"), 120)
        with source(one, RATE // 2):
            for service in (*(process.name for process in one.processes() if process.name[-2:] == "-2"), "postgres"):
                kill(one, service)
        exact(one, pushed + 10 * (RATE // 2))


def figures(query: str) -> Any:
    answer = requests.get(f"http://127.0.0.1:{PROMETHEUS}/api/v1/query", params={"query": query}, timeout=5)
    return answer.json()["data"]["result"]
