"""What the processes do, by real ones and by what the process manager says of them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from common.process import manager
from common.settings import Settings
from common.telemetry import processes as told
from control.processes import Session, Watcher, sessions, watch
from tests.stack import eventually

BUSY = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"


def info(pid: int, state: str = "RUNNING", name: str = "spark") -> dict[str, Any]:
    return {"name": name, "pid": pid, "statename": state, "start": 1000}


@pytest.fixture
def busy() -> Iterator[int]:
    """Id of a process that leads a session and itself does nothing: what it has started does."""
    leader = subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True)
    try:
        eventually("both run", lambda: len(sessions()[leader.pid].ticks) == 2, 30)
        yield leader.pid
    finally:
        os.killpg(leader.pid, 9)
        leader.wait()


def test_what_a_process_has_started_counts_as_its_own(busy: int) -> None:
    watcher = Watcher(None)
    (first,) = watcher.read(0.0, 1, [info(busy)], sessions())["processes"]
    assert first["cpu_share"] is None
    assert first["memory_bytes"]
    began, ticks = time.monotonic(), sum(sessions()[busy].ticks.values())
    eventually("it has worked", lambda: sum(sessions()[busy].ticks.values()) > ticks + 20, 60)
    (second,) = watcher.read(time.monotonic() - began, 1, [info(busy)], sessions())["processes"]
    assert second["cpu_share"]
    assert 0 < second["cpu_share"] < 2


def test_restarts_are_counted_through_death_and_pause_and_from_what_was_told() -> None:
    watcher, seen = Watcher(None), []
    for at, (pid, state) in enumerate([(1, "RUNNING"), (0, "EXITED"), (2, "STARTING"), (2, "RUNNING"), (3, "RUNNING")]):
        reading = watcher.read(float(at), 7, [info(pid, state)], {pid: Session({pid: 1})} if pid else {})
        seen += [(one["restarts"], one["state"], one["up_since"]) for one in reading["processes"]]
    assert seen == [(0, "running", 1000), (0, "exited", None), (1, "starting", 1000), (1, "running", 1000),
                    (2, "running", 1000)]
    (later,) = Watcher(reading).read(9.0, 7, [info(4)], {4: Session({4: 1}, is_paused=True)})["processes"]
    assert (later["restarts"], later["state"]) == (3, "paused")
    (anew,) = Watcher(reading).read(9.0, 8, [info(4)], {})["processes"]
    assert (anew["restarts"], anew["memory_bytes"]) == (0, None)


def test_a_kill_is_seen_within_seconds(instance: Settings) -> None:
    watch(instance)
    with Redis.from_url(instance.redis_address) as client:
        def reading() -> dict[str, told.Process]:
            found = told.read(client, instance.redis_prefix)
            return {one["name"]: one for one in found["processes"]} if found else {}

        eventually("it is told", lambda: reading().keys() == {"redis", "nginx"}, 20)
        pid = manager.ask(instance).getProcessInfo("nginx")["pid"]
        assert reading()["nginx"]["pid"] == pid
        os.kill(pid, 9)
        eventually("it is told", lambda: reading()["nginx"]["restarts"] == 1, 20)
        assert reading()["redis"]["restarts"] == 0


def test_of_a_dead_process_nothing_is_known() -> None:
    kernel = {0: Session({2: 5}, memory_bytes=123)}
    (one,) = Watcher(None).read(1.0, 1, [info(0, "EXITED")], kernel)["processes"]
    assert (one["pid"], one["cpu_share"], one["memory_bytes"]) == (None, None, None)
