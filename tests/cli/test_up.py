"""What `murmur up` decides before it starts anything; the servers' addresses are elsewhere, so that none is needed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli import up as command
from cli.main import murmur
from common.process import manager
from common.settings import Settings
from tests.stack import PORT_BASE


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("MURMUR_")]:
        monkeypatch.delenv(name)
    home = tmp_path / ".murmur"
    monkeypatch.setenv("MURMUR_HOME", str(home))
    monkeypatch.setenv("MURMUR_PORT_BASE", str(PORT_BASE))
    monkeypatch.chdir(tmp_path)
    return home


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings with which `up` went on to start processes."""
    found: list[Settings] = []
    monkeypatch.setattr(command, "bring_up", lambda settings, servers_only: found.append(settings))
    return found


def up(*words: str, **environment: str) -> Result:
    return CliRunner(env=environment).invoke(murmur, ["up", *words])


def saved(home: Path) -> dict[str, object]:
    return json.loads((home / "instances" / "default" / "settings.json").read_text())


def test_what_the_file_beside_the_checkout_says_reaches_the_instance(home: Path, started: list[Settings]) -> None:
    (home.parent / ".env").write_text("MURMUR_MIDDLEWARE=kafka\nMURMUR_PARTITIONS=3\nMURMUR_RANKING_LIMIT=77\n")
    assert up(MURMUR_RANKING_LIMIT="88").exit_code == 0
    assert (started[0].middleware, started[0].partitions, started[0].ranking_limit) == ("kafka", 3, 88)
    assert (saved(home)["middleware"], saved(home)["ranking_limit"]) == ("kafka", 88)
    up("--middleware", "pravega")
    assert started[1].middleware == "pravega"


def test_a_setting_that_came_too_late_is_refused_and_nothing_changes(home: Path, started: list[Settings]) -> None:
    up()
    before = saved(home)
    result = up(MURMUR_PARTITIONS="2")
    assert result.exit_code == 1
    assert "partitions: 1, and now 2" in result.output
    assert "murmur down --wipe" in result.output
    assert saved(home) == before
    assert len(started) == 1


def test_settings_that_cannot_be_read_are_written_anew(home: Path, started: list[Settings]) -> None:
    up()
    file = home / "instances" / "default" / "settings.json"
    file.write_text('{"instance": "def')
    assert "cannot be read" in CliRunner().invoke(murmur, ["status"]).output
    assert CliRunner().invoke(murmur, ["down"]).exit_code == 0
    assert up().exit_code == 0
    assert saved(home)["instance"] == "default"


def test_on_a_running_instance_a_setting_that_would_not_take_effect_is_refused(
    home: Path, started: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    up(MURMUR_RANKING_LIMIT="77", MURMUR_DATABASE_URL="postgresql://u:SENTINEL@127.0.0.1/a")
    monkeypatch.setattr(manager, "is_running", lambda settings: True)
    assert up().exit_code == 0
    assert up(MURMUR_RANKING_LIMIT="77").exit_code == 0
    refused = up(MURMUR_RANKING_LIMIT="78", MURMUR_DATABASE_URL="postgresql://u:SENTINEL@127.0.0.1/b")
    assert refused.exit_code == 1
    assert "ranking_limit 77" in refused.output
    assert "database_url" in refused.output
    assert "SENTINEL" not in refused.output
    assert "murmur down" in refused.output


def test_a_middleware_that_is_not_there_is_refused_at_once(home: Path, started: list[Settings]) -> None:
    refused = up(MURMUR_MIDDLEWARE="pravga")
    assert refused.exit_code == 2
    assert "unknown middleware 'pravga': choose one of pravega" in refused.output
    assert not started
    assert not home.exists()


@pytest.mark.parametrize("words", [("up",), ("run", "redis")])
def test_replicas_that_a_middleware_has_not_are_refused(
    words: tuple[str, ...], home: Path, started: list[Settings]
) -> None:
    several = {"MURMUR_MIDDLEWARE": "nats", "MURMUR_REPLICAS": "3"}
    refused = CliRunner().invoke(murmur, words, env=several)
    assert refused.exit_code == 2, refused.output
    assert "nats has no replicas: leave MURMUR_REPLICAS at 1" in refused.output
    assert not started
    assert not home.exists()


def test_a_middleware_that_is_chosen_for_the_first_time_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And again, if that did not come to its end."""
    stamps, installed = tmp_path / ".murmur" / "stamps", list[str]()
    stamps.mkdir(parents=True)
    (tmp_path / "deploy/local/kafka").mkdir(parents=True)
    (tmp_path / "deploy/local/kafka/setup.sh").touch()
    monkeypatch.setattr(command.checkout, "ROOT", tmp_path)
    monkeypatch.setattr(command.checkout, "set_up", installed.append)
    monkeypatch.setattr(command.stack, "write_configuration", lambda settings: None)
    command.configure(Settings(middleware="kafka"))
    command.configure(Settings(middleware="kafka"))
    assert installed == ["kafka", "kafka"]
    assert "installing what kafka needs" in capsys.readouterr().out
    (stamps / "middleware-kafka").touch()
    command.configure(Settings(middleware="kafka"))
    command.configure(Settings(middleware="elsewhere"))
    assert installed == ["kafka", "kafka"]
