"""`make demo` with a live source whose host is away when it begins, and comes up later."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.local import instances
from tests.ingest.sources.jetstream import BEGAN, Jetstream, at, post
from tests.search.servers import free_port
from tests.stack import ROOT, Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def shown(port: int) -> Iterator[Stack]:
    """What the demonstration starts."""
    name = "test-demo"
    made = Stack(name, MURMUR_INSTANCE=name, MURMUR_BLUESKY_HOSTS=f"ws://127.0.0.1:{port}")
    made.down()
    yield made
    made.down()


@contextmanager
def demo(stack: Stack, said: Path) -> Iterator[subprocess.Popen[bytes]]:
    with said.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "cli.demo", "bluesky"], env=stack.environment, cwd=ROOT,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_host_that_is_not_reached_is_named_and_its_posts_come_when_it_is(
    shown: Stack, port: int, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    with demo(shown, said) as running:
        eventually("the page's address is told", lambda: "The page: http" in said.read_text(), 300)
        eventually("the terminal names the host", lambda: f"ws://127.0.0.1:{port} is not reached" in said.read_text())
        told = eventually("so does the API", lambda: shown.get("pipeline")["source_problem"])
        assert told.startswith(f"bluesky: ws://127.0.0.1:{port} is not reached (")
        assert shown.get("pipeline")["source"] is None
        assert "first" not in said.read_text()
        with Jetstream([], port=port) as host:

            def says_after_a_post(what: str) -> bool:
                number = len(host.events)
                written = {"time": at(time.time() - BEGAN.timestamp())}
                host.events.append(post(number, text="music tonight", tags=["evening"]) | written)
                return what in said.read_text()

            eventually("the ranking is seen", lambda: says_after_a_post("first ranking: #evening leads"), 300)
            eventually("the search finds one", lambda: says_after_a_post("first tweet is searchable"))
            pipeline = shown.get("pipeline")
            assert (pipeline["source"], pipeline["source_problem"]) == ("bluesky", None)
            assert running.poll() is None
            settings = shown.settings()
            running.send_signal(signal.SIGINT)
            assert running.wait(60) == 0, said.read_text()
    assert instances.leftovers(settings) == []
