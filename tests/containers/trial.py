"""`make compose-test`: each Compose file is brought up and fed through Nginx; the main process of each container is
killed.

Needs a Docker daemon and `docker-compose` (1.29 or 2), and fails without. `MURMUR_TEST_COMPOSE_RATE` tweets a second
come in meanwhile, 500 unless told.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import requests

from deploy.containers import compose
from tests.stack import PORT_BASE, ROOT, eventually, has_caught_up

RATE = int(os.environ.get("MURMUR_TEST_COMPOSE_RATE", "500"))
PAGE = PORT_BASE + 1950
TOKEN = "of-the-trial"
INVENTED = ROOT / "tests" / "data" / "tweets.jsonl"

pytestmark = pytest.mark.timeout(3600)

log = logging.getLogger(__name__)


class Composed:
    """An instance as containers, driven by Docker's commands and by the page's port."""

    url = f"http://127.0.0.1:{PAGE}"

    def __init__(self, file: str) -> None:
        command = shutil.which("docker-compose")
        self._compose = [command] if command else ["docker", "compose"]
        self._environment = {**os.environ, "COMPOSE_FILE": file, "COMPOSE_PROJECT_NAME": "murmuration-trial",
                             "MURMURATION_PORT": str(PAGE), "MURMUR_INGEST_TOKEN": TOKEN}

    def compose(self, *words: str, seconds: float = 120) -> str:
        return self._ran([*self._compose, *words], seconds)

    def docker(self, *words: str, seconds: float = 60) -> str:
        return self._ran(["docker", *words], seconds)

    def services(self) -> list[str]:
        return self.compose("config", "--services").split()

    def container(self, service: str) -> str:
        return self.compose("ps", "-q", service).strip()

    def state(self, service: str) -> dict[str, Any]:
        """What Docker tells of the container: pid, whether it runs, how often it was started again."""
        found = json.loads(self.docker("inspect", self.container(service)))[0]
        return {**found["State"], "RestartCount": found["RestartCount"]}

    def has_caught_up(self) -> bool:
        answer = requests.get(f"{self.url}/api/v1/pipeline", timeout=5)
        answer.raise_for_status()
        return has_caught_up(answer.json()["stages"])

    def is_ready(self) -> bool:
        return requests.get(f"{self.url}/readyz", timeout=5).status_code == 200

    def push(self, tweets: list[dict[str, Any]]) -> int:
        """Status of the answer to a POST through Nginx."""
        body = "\n".join(map(json.dumps, tweets))
        return requests.post(
            f"{self.url}/api/v1/tweets", data=body.encode(), timeout=60,
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/x-ndjson"},
        ).status_code

    def audit(self) -> dict[str, tuple[int, int, int]]:
        """By stage: expected, missing, twice."""
        output = self.compose("run", "--rm", "-T", "murmur", "audit", "--json", "--timeout", "400", seconds=450)
        stages = json.loads(output.strip().splitlines()[-1])["stages"]
        return {name: (stage["expected"], stage["missing"], stage["duplicated"]) for name, stage in stages.items()}

    def _ran(self, command: list[str], seconds: float) -> str:
        done = subprocess.run(command, cwd=ROOT, env=self._environment, capture_output=True, text=True, timeout=seconds)
        assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(params=[name for name, _ in compose.files()])
def composed(request: pytest.FixtureRequest) -> Iterator[Composed]:
    composed = Composed(request.param)
    composed.docker("info")
    began = time.monotonic()
    composed.compose("build", seconds=3600)
    log.info("%s: built in %.0f s", request.param, time.monotonic() - began)
    composed.compose("down", "--volumes", "--timeout", "10")
    try:
        began = time.monotonic()
        composed.compose("up", "--detach", seconds=300)
        eventually("the page is there", composed.is_ready, 300)
        log.info("%s: up in %.0f s", request.param, time.monotonic() - began)
        yield composed
    finally:
        log.info("%s", composed.compose("logs", "--tail", "3"))
        composed.compose("down", "--volumes", "--timeout", "10")


def of_now(line: str) -> dict[str, Any]:
    """An invented payload whose tweet is dated now: older ones are not ranked."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    payload = json.loads(line)
    return {**payload, "data": {**payload["data"], "created_at": now}}


def test_each_container_is_killed_and_every_tweet_is_there_once(composed: Composed) -> None:
    tweets = [of_now(line) for line in INVENTED.read_text().splitlines()]
    eventually("tweets are taken", lambda: composed.push(tweets) == 200, 300)
    source = composed.compose(
        "run", "--detach", "murmur", "ingest", "--source", "synthetic", "--rate", str(RATE), "--run", "long"
    ).strip().splitlines()[-1]
    try:
        for service in composed.services():
            if service == "murmur":
                continue
            eventually("all stages have caught up", composed.has_caught_up, 300)
            before = composed.state(service)
            began = time.monotonic()
            os.kill(before["Pid"], signal.SIGKILL)
            eventually(f"{service} is started again", lambda name=service, was=before["RestartCount"]: (
                composed.state(name)["Running"] and composed.state(name)["RestartCount"] > was), 120)
            eventually("all stages have caught up", composed.has_caught_up, 300)
            log.info("%s killed: caught up %.0f s later", service, time.monotonic() - began)
        assert json.loads(composed.docker("inspect", source))[0]["State"]["Running"], composed.docker("logs", source)
    finally:
        composed.docker("stop", "--time", "60", source, seconds=90)
    log.info("%s", composed.docker("logs", "--tail", "2", source))
    found = composed.audit()
    assert found["published"][0] > len(tweets) + 10 * RATE
    assert {name: wrong for name, (_, *wrong) in found.items()} == {name: [0, 0] for name in found}
    log.info("audit exact: %s", found)
    composed.docker("rm", source)
