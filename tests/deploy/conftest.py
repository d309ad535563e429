"""A process manager of its own for a test, with shell commands as its processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from common.process import manager
from common.process.child import program
from common.settings import Settings
from deploy.local import instances
from deploy.local.processes import supervisor
from deploy.local.processes.spec import Process
from tests.stack import eventually

Start = Callable[..., list[Process]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = Settings(home=tmp_path, instance="one")
    found.log_dir.mkdir(parents=True)
    return found


@pytest.fixture
def start(settings: Settings) -> Iterator[Start]:
    """Starts shell commands as processes, each in a stage of its own."""

    def start(**commands: str) -> list[Process]:
        found = [
            Process(name, (program("sh"), "-c", command), stage=stage, ready=lambda started: False, ready_seconds=60)
            for stage, (name, command) in enumerate(commands.items())
        ]
        supervisor.write_configuration(settings, found)
        supervisor.start(settings)
        return found

    yield start
    try:
        if manager.is_running(settings):
            supervisor.stop(settings, [])
    except manager.NotAnswering:  # a test that failed has left it held
        instances.end_leftovers(settings)
    eventually("all has ended", lambda: not instances.leftovers(settings), 10)
