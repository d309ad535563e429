"""A process manager that is held, or answers late, as on a machine that is busy: a real one, without a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Timer

import psutil
import pytest

from common.process import manager
from common.settings import Settings
from deploy.local import instances, state
from deploy.local.processes import wait_ready
from deploy.local.processes.wait_ready import Deaths
from loadgen.stack import Instance
from tests.deploy.conftest import Start
from tests.deploy.processes.supervised import ready, running
from tests.stack import ROOT, eventually


def murmur(settings: Settings, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MURMUR_")}
    return subprocess.run(
        [sys.executable, "-m", "cli", *words, "--instance", settings.instance], text=True, capture_output=True,
        env={**environment, "MURMUR_HOME": str(settings.home)}, cwd=ROOT, timeout=30,
    )


@pytest.mark.slow
def test_a_process_manager_that_is_held_holds_up_no_command(settings: Settings, start: Start) -> None:
    settings.save()
    state.record(settings)
    found = start(deaf="trap '' TERM; exec sleep 300", well="exec sleep 300")
    eventually("all run", lambda: len(running(settings)) == len(found), 30)
    left = instances.leftovers(settings)
    assert len(left) == len(found) + 1
    psutil.Process(manager.ask(settings).getPID()).suspend()
    for command in ("status", "up"):
        result = murmur(settings, command)
        assert result.returncode == 1
        assert "does not answer" in result.stdout + result.stderr
        assert "murmur down" in result.stdout + result.stderr
    assert [one for one in left if not one.is_running()] == []
    assert json.loads(murmur(settings, "status", "--json").stdout)["processes"] is None
    began = time.monotonic()
    result = murmur(settings, "down")
    assert time.monotonic() - began < 10
    assert result.returncode == 0
    assert f"its data stays in {settings.instance_dir}" in result.stdout
    assert instances.leftovers(settings) == []


@contextmanager
def held_for_longer_than_an_answer(settings: Settings) -> Iterator[None]:
    """As the process manager is on a machine that is busy; it goes on a moment later."""
    daemon = psutil.Process(manager.ask(settings).getPID())
    daemon.suspend()
    later = Timer(manager.ANSWER_SECONDS + 1, daemon.resume)
    later.start()
    try:
        yield
    finally:
        later.join()


def test_a_process_manager_that_answers_late_is_waited_for(
    settings: Settings, start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is held as soon as it has gone into the background."""
    pid = settings.instance_dir / "supervisord.pid"
    resumed = f"(sleep {manager.ANSWER_SECONDS + 1}; kill -CONT $(cat {pid}))"
    hold = f"until [ -s {pid} ]; do sleep 0.05; done\nkill -STOP $(cat {pid}) || exit"
    slow = tmp_path / "slow"
    slow.write_text(f'#!/bin/sh\n{sys.executable} "$@" || exit\n{hold}\n{resumed} >/dev/null 2>&1 &\n')
    slow.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(slow))
    start(well="exec sleep 300")
    assert manager.is_running(settings)


def test_processes_are_waited_for_while_the_process_manager_answers_late(settings: Settings, start: Start) -> None:
    (well,) = start(well="exec sleep 300")
    eventually("it runs", lambda: running(settings) == {"well"}, 30)
    well = replace(well, ready=lambda started: True)
    with held_for_longer_than_an_answer(settings):
        assert ready(settings, [well]) == [well]


def test_deaths_are_not_counted_while_the_process_manager_answers_late(settings: Settings, start: Start) -> None:
    start(well="exec sleep 300")
    with held_for_longer_than_an_answer(settings):
        Deaths(settings).look()


def test_a_process_manager_that_does_not_answer_any_more_is_named_in_time(
    settings: Settings, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wait_ready, "HELD_SECONDS", 2.0)
    (well,) = start(well="exec sleep 300")
    psutil.Process(manager.ask(settings).getPID()).suspend()
    began = time.monotonic()
    with pytest.raises(manager.NotAnswering, match="murmur down"):
        ready(settings, [well])
    assert time.monotonic() - began < well.ready_seconds / 2


def test_an_experiment_goes_on_when_the_process_manager_answers_late(settings: Settings, start: Start) -> None:
    start(well="exec sleep 300")
    eventually("it runs", lambda: running(settings) == {"well"}, 30)
    with held_for_longer_than_an_answer(settings):
        assert Instance(settings).processes().keys() == {"well"}
