"""`murmur chaos` over an instance that does not run: what it refuses, and what it undoes first."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner, Result

from chaos.lease import Lease, lease_file
from chaos.provoke import Outcome
from chaos.record import Record
from cli.chaos import single
from cli.main import murmur
from common.experiments import experimenting
from common.process.identity import Identity
from common.settings import Settings
from tests.stack import eventually


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("MURMUR_HOME", str(tmp_path))
    monkeypatch.delenv("MURMUR_SETTINGS", raising=False)
    found = Settings(home=tmp_path)
    found.save()
    return found


def run(*words: str) -> Result:
    return CliRunner().invoke(murmur, ["chaos", *words])


def test_an_experiment_is_not_disturbed(settings: Settings) -> None:
    with experimenting(settings):
        for words in (("kill", "spark"), ("flush-cache",), ("--for", "5s")):
            result = run(*words)
            assert result.exit_code == 1
            assert "an experiment runs on instance default" in result.output
    assert "not running" in run("kill", "spark").output


def test_no_experiment_begins_while_a_command_is_at_work(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def provoke(*_: object) -> Outcome:
        with pytest.raises(BlockingIOError), experimenting(settings):
            pytest.fail("it has begun")
        return Outcome(Record(1, "kill", "spark", 7, back_after_s=2.1), flows=False)

    monkeypatch.setattr(single, "provoke", provoke)
    result = run("kill", "spark")
    assert result.exit_code == 0, result.output
    assert "back after 2.1 s" in result.output
    with experimenting(settings):
        pass


@pytest.mark.parametrize(("words", "said"), [
    ((), "--for"), (("--seed", "7", "kill", "spark"), "stand behind its name"), (("--for", "soon"), "is no time"),
    (("pause", "spark", "--for", "61s"), "within 0 to 60 s"), (("pause", "spark", "--for", "2m"), "within 0 to 60 s"),
    (("slow", "spark", "--share", "1"), "--share"),
])
def test_what_is_written_wrongly_is_told(settings: Settings, words: tuple[str, ...], said: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert said in result.output


@pytest.fixture
def abandoned(settings: Settings) -> Iterator[int]:
    """A process that is paused, by a lease that nobody holds; its id."""
    process = subprocess.Popen(["sleep", "300"], start_new_session=True)
    found = Identity.of(process.pid)
    assert found
    path = lease_file(settings.instance_dir, "spark")
    path.parent.mkdir()
    path.write_text(str(Lease("pause", "spark", found, 60.0)))
    os.kill(process.pid, signal.SIGSTOP)
    eventually("it is paused", lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED, 10)
    yield process.pid
    process.kill()
    process.wait()


@pytest.mark.parametrize("words", [("status",), ("down",), ("chaos", "kill", "spark")])
def test_what_nobody_holds_any_more_is_undone_by_the_next_command(abandoned: int, words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(murmur, words)
    assert "undone, since nobody held it any more: pause of spark" in result.output
    assert psutil.Process(abandoned).status() != psutil.STATUS_STOPPED
