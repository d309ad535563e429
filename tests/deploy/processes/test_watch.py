"""The watch beside a server knows that this is ill from what else it may say, or not say."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import psutil
import pytest

from common import modules
from common.process.child import program, python
from deploy.local.nats.server import GIVEN_UP
from deploy.local.processes import watch
from tests.stack import ROOT, eventually

ILL = (503, b'{"status":"unavailable","error":"JetStream stream \'$G > KV_g\' write error: write 1.blk: no space left '
            b'on device"}')
OTHERS = [(200, b'{"status":"ok"}'), (503, b'{"status":"unavailable","error":"NATS server is shutting down"}')]


class Health(BaseHTTPRequestHandler):
    answer = OTHERS[0]

    def do_GET(self) -> None:
        self.send_response(self.answer[0])
        self.send_header("Content-Length", str(len(self.answer[1])))
        self.end_headers()
        self.wfile.write(self.answer[1])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Health) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/healthz"
        server.shutdown()


def test_a_server_that_gave_up_a_stream_is_ill(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Health, "answer", ILL)
    assert watch.is_ill(url, GIVEN_UP)


@pytest.mark.parametrize("answer", OTHERS)
def test_nothing_else_is_taken_for_that(
    answer: tuple[int, bytes], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Health, "answer", answer)
    assert not watch.is_ill(url, GIVEN_UP)


@contextmanager
def watched(url: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process with a watch beside it."""
    watching = python(modules.Deploy.WATCH, '"$$"', url, f"'{GIVEN_UP}'", str(folder))
    server = subprocess.Popen([program("sh"), "-c", f"{' '.join(watching)} & wait"], cwd=ROOT)
    try:
        yield server
    finally:
        server.kill()
        server.wait()


def test_a_server_that_is_ill_is_ended(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched(url, tmp_path) as server:
        with pytest.raises(subprocess.TimeoutExpired):
            server.wait(watch.LOOK_SECONDS + 1)
        monkeypatch.setattr(Health, "answer", ILL)
        assert server.wait(30) == -signal.SIGTERM


def test_the_watch_ends_with_its_server(url: str, tmp_path: Path) -> None:
    with watched(url, tmp_path) as server:
        eventually("the watch is there", lambda: psutil.Process(server.pid).children(), 10)
        (beside,) = psutil.Process(server.pid).children()
        server.kill()
        server.wait()
        beside.wait(30)


def test_a_server_that_is_away_says_nothing() -> None:
    assert not watch.is_ill("http://127.0.0.1:1/healthz", GIVEN_UP)
