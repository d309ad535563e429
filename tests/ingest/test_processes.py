"""Processes that end: by an error that nobody expected, and by Ctrl-C while the middleware is away."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from ingest.archive import files
from ingest.manifest import read_manifests
from tests.ingest.over_memory import eventually, settings_in
from tests.search.servers import free_port
from tests.stack import ROOT

MODULE = "tests.ingest.over_memory_processes"
AUTHORISED = {"Authorization": "Bearer token"}
LOG = "server.log"


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The endpoint, served as an instance serves it."""
    from deploy.local.stack import INGEST_SERVER
    monkeypatch.setenv("HOME_OF_THE_TEST", str(tmp_path))
    address = f"127.0.0.1:{free_port()}"
    with (tmp_path / LOG).open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", *INGEST_SERVER, "--bind", address, f"{MODULE}:served()"],
            cwd=ROOT, stderr=log)
    try:
        assert eventually(lambda: ready(f"http://{address}"), 30)
        yield f"http://{address}"
    finally:
        server.terminate()
        server.wait(20)


def ready(url: str) -> bool:
    try:
        return requests.get(f"{url}/readyz", timeout=10).status_code == 200
    except requests.RequestException:  # nobody is there, or one that ends while it answers
        return False


def test_a_publisher_that_died_is_replaced_with_its_process(url: str, tmp_path: Path) -> None:
    body = b'{"data":{"id":"1","text":"fail as nobody expects"}}'
    answer = requests.post(f"{url}/api/v1/tweets", data=body, headers=AUTHORISED, timeout=30)
    assert (answer.status_code, answer.headers["Content-Type"]) == (503, "application/problem+json")
    assert not ready(url)
    reason = "publishing failed, so this process ends: as nobody expects"
    assert eventually(lambda: reason in (tmp_path / LOG).read_text(), 10)
    (tmp_path / "healed").touch()
    assert eventually(lambda: ready(url), 30)
    [run] = read_manifests(settings_in(tmp_path)).values()
    assert (run.finished, run.total) == (True, 1)  # its successor has published what was archived


def test_ctrl_c_ends_whatever_the_middleware_does_and_says_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME_OF_THE_TEST", str(tmp_path))
    settings = settings_in(tmp_path)
    ingest = subprocess.Popen([sys.executable, "-m", MODULE], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        assert eventually(lambda: any(files.read(settings, "stuck", 0)), 30)
        ingest.send_signal(signal.SIGINT)
        _, said = ingest.communicate(timeout=10)
    finally:
        ingest.kill()
    assert ingest.returncode == 1
    kept = len(list(files.read(settings, "stuck", 0)))
    assert f"0 tweets are acknowledged, {kept} archived and not acknowledged" in said
    assert "--resume" in said
    assert not read_manifests(settings)["stuck"].finished
