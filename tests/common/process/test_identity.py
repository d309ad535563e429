"""Which process is meant, whoever has its id."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from common.process.identity import Identity
from tests.stack import eventually


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "300"])
    yield process
    process.kill()
    process.wait()


def identity(process: subprocess.Popen[bytes]) -> Identity:
    found = Identity.of(process.pid)
    assert found
    return found


def test_the_process_itself_is_killed(sleeper: subprocess.Popen[bytes]) -> None:
    identity(sleeper).kill()
    assert sleeper.wait(10) == -9


def test_another_of_the_same_id_is_not(sleeper: subprocess.Popen[bytes]) -> None:
    found = identity(sleeper)
    with pytest.raises(ProcessLookupError):
        found._replace(started=found.started - 1).kill()
    assert found.is_running()


def test_nobody_is_killed_for_one_that_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    found = identity(sleeper)
    sleeper.kill()
    eventually("it has ended, and nobody has asked how", lambda: not found.is_running(), 10)
    with pytest.raises(ProcessLookupError):
        found.kill()
    sleeper.wait()
    with pytest.raises(ProcessLookupError):
        found.kill()
