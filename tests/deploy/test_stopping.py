"""An instance ends within ten seconds, in whatever state it is, and goes on from where it was."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator

import pytest

from common.process import manager
from common.tweets import RAW
from deploy.local import instances
from deploy.local.middlewares import deployment
from middleware.registry import connect, registry
from tests.stack import ROOT, Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow]

PROMISED_SECONDS = 10.0


@pytest.fixture(params=registry())
def stopped(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """An instance that does not run yet."""
    instance = Stack("test-stopping", MURMUR_MIDDLEWARE=request.param)
    instance.down()
    yield instance
    instance.down()


def down(instance: Stack) -> str:
    settings = instance.settings()
    began = time.monotonic()
    output = instance.murmur("down")
    took = time.monotonic() - began
    assert instances.leftovers(settings) == []
    assert took < PROMISED_SECONDS, f"took {took:.1f} s:\n{output}"
    return output


@pytest.fixture
def no_class_data(stopped: Stack) -> Iterator[None]:
    """No start before has left anything that would make this one faster; what was there comes back."""
    used, aside = ROOT / ".murmur" / "class-data", ROOT / ".murmur" / "class-data.aside"
    if used.exists():
        used.rename(aside)
    yield
    stopped.down()
    if aside.exists():
        shutil.rmtree(used, ignore_errors=True)
        aside.rename(used)


@pytest.mark.usefixtures("no_class_data")
def test_right_after_a_first_start(stopped: Stack) -> None:
    stopped.murmur("up", timeout=300)
    assert f"its data stays in {stopped.settings().instance_dir}" in down(stopped)


def test_in_the_middle_of_a_start(stopped: Stack) -> None:
    starting = stopped.start("up")
    eventually("the process manager runs", lambda: settings_exist(stopped) and manager.is_running(
        stopped.settings()), 60)
    down(stopped)
    _, errors = starting.communicate(timeout=60)
    assert starting.returncode != 0
    assert "Traceback" not in errors


def settings_exist(instance: Stack) -> bool:
    return (ROOT / ".murmur" / "instances" / instance.instance / "settings.json").exists()


def test_while_the_stream_store_does_not_answer_and_without_loss(stopped: Stack) -> None:
    stopped.murmur("up", "--servers-only", timeout=240)
    with connect(stopped.settings()) as middleware, middleware.data.producer(RAW) as producer:
        for n in range(100):
            producer.send("key", str(n).encode())
        producer.flush()
    settings = stopped.settings()
    for name in {server.name for server in deployment(settings.middleware).processes(settings)}:
        for pid in stopped.pids()[name]:
            os.kill(pid, signal.SIGSTOP)
    down(stopped)
    stopped.murmur("up", "--servers-only", timeout=240)
    found: list[bytes] = []
    with connect(stopped.settings()) as middleware, middleware.data.consumer(RAW, "test", start="head") as consumer:
        eventually("all events are read", lambda: found.extend(consumer.poll(1000, 1.0)) or len(found) >= 100, 60)
    assert found == [str(n).encode() for n in range(100)]
