"""Every query of the board for Grafana, asked of a real Prometheus that reads a running instance."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
import yaml

from common.telemetry.retention import READERS
from common.tweets import STAGES
from tests.board import PROMETHEUS, queries
from tests.search.servers import free_port
from tests.stack import Stack, eventually, has_caught_up, kill

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.other_middlewares]

RATE, BROKEN = 200, 30


class Prometheus:
    """Asked by its HTTP API, as Grafana asks it."""

    def __init__(self, port: int, instance: str) -> None:
        self.instance = instance
        self._api = f"http://127.0.0.1:{port}/api/v1"

    def reads(self) -> bool:
        """Whether it has read the instance."""
        return [series["value"][1] for series in self.now(f'up{{instance="{self.instance}"}}')] == ["1"]

    def now(self, expr: str) -> list[dict[str, Any]]:
        """Every series that has a value now, with its labels (`metric`)."""
        answer = requests.get(f"{self._api}/query", params={"query": expr}, timeout=10)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]["result"]


@pytest.fixture
def prometheus(stack: Stack, tmp_path: Path) -> Iterator[Prometheus]:
    """With the configuration for containers, but for the address of the page."""
    program = shutil.which("prometheus")
    assert program, "no prometheus here: `deploy/local/setup/run --tests` installs it"
    page, port = urlsplit(stack.url).netloc, free_port()
    configuration = yaml.safe_load(PROMETHEUS.read_text())
    configuration["scrape_configs"][0]["static_configs"] = [{"targets": [page]}]
    file = tmp_path / "prometheus.yml"
    file.write_text(yaml.safe_dump(configuration))
    server = subprocess.Popen([
        program, f"--config.file={file}", f"--storage.tsdb.path={tmp_path / 'data'}", "--log.level=warn",
        f"--web.listen-address=127.0.0.1:{port}",
    ])
    try:
        asked = Prometheus(port, page)
        eventually("Prometheus reads the page", asked.reads, 30)
        yield asked
    finally:
        server.kill()  # its data goes with the test's folder
        server.wait()


def push_broken(stack: Stack) -> None:
    """JSON without what makes a tweet: taken by the endpoint, and rejected by *enrich*."""
    lines = [json.dumps({"data": {"id": str(8_700_000 + number)}}) for number in range(BROKEN)]
    answer = requests.post(f"{stack.url}/api/v1/tweets", data="\n".join(lines).encode(), timeout=30,
                           headers={"Authorization": f"Bearer {stack.settings().ingest_token}"})
    assert (answer.status_code, answer.json()["accepted"]) == (200, BROKEN), answer.text


def test_every_query_has_its_data_and_what_is_unknown_has_none(stack: Stack, prometheus: Prometheus) -> None:
    def found(metric: str, label: str) -> set[str]:
        return {series["metric"][label] for series in prometheus.now(f'{metric}{{instance="{prometheus.instance}"}}')}

    def every_query_has_its_data() -> bool:
        assert [query for query in queries() if not prometheus.now(query.of(prometheus.instance))] == []
        return found("murmur_stage_rate", "stage") == {*STAGES}

    def all_have_caught_up() -> bool:
        return has_caught_up(stack.get("pipeline")["stages"])

    source = stack.start("ingest", "--source", "synthetic", "--rate", str(RATE), "--run", "board")
    try:
        eventually("tweets flow", lambda: stack.acknowledged("board") > 0, 60)
        push_broken(stack)
        eventually("all have caught up", all_have_caught_up, 240)
        eventually("every query has its data", every_query_has_its_data)

        pids = stack.pids()["search"]
        for pid in pids:  # it hangs first: who is killed is back before anybody misses it
            os.kill(pid, signal.SIGSTOP)
        eventually("its rate is unknown, and no other",
                   lambda: found("murmur_stage_rate", "stage") == {*STAGES} - {"searchable"})
        kill(pids)
        eventually("all have caught up", all_have_caught_up, 240)
        eventually("every query has its data again", every_query_has_its_data)
        eventually("every reader is known", lambda: found("murmur_retention_used", "reader") == {*READERS})
    finally:
        source.kill()
        source.communicate()
    assert found("murmur_stage_tweets_total", "stage") == {*STAGES}
    assert found("murmur_instance_info", "middleware") == {stack.settings().middleware}
    (rejected,) = prometheus.now('murmur_rejected_events_total{reason="missing-field"}')
    assert int(rejected["value"][1]) >= BROKEN
