"""What `murmur down --wipe` removes: nothing unasked, and nothing that it does not say."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner, Result

from chaos.guarded import guarded
from chaos.lease import Lease
from cli.main import murmur
from common.process import manager
from common.process.identity import Identity
from common.settings import Settings
from deploy.local.processes import supervisor
from tests.stack import eventually

SENTINEL = "s3ntinel"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MURMUR_HOME", str(tmp_path))
    monkeypatch.delenv("MURMUR_SETTINGS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stored(home: Path, **settings: str) -> Path:
    """The database of an instance that does not run."""
    found = Settings(home=home, **settings)
    found.save()
    found.state_dir.mkdir()
    file = found.state_dir / "tweets.db"
    file.write_bytes(b"SQLite")
    return file


def down(*words: str) -> Result:
    return CliRunner().invoke(murmur, ["down", *words])


def test_without_a_terminal_nothing_is_removed_unless_told_so(home: Path) -> None:
    file = stored(home)
    refused = down("--wipe")
    assert refused.exit_code == 1
    assert f"nothing was touched: --yes removes everything in {file.parent.parent}" in refused.output
    assert file.exists()
    assert down("--wipe", "--yes").exit_code == 0
    assert not file.parent.parent.exists()


def test_an_instance_ends_whose_middleware_is_no_longer_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = stored(home, middleware="gone")
    monkeypatch.setattr(manager, "is_running", lambda settings: True)
    process = subprocess.Popen(["sleep", "300"], env={"MURMUR_SETTINGS": str(Settings(home=home).settings_file)})
    try:
        ended = down()
        assert ended.exit_code == 0, ended.output
        assert "gone of instance default is not known here" in ended.output
        process.wait(10)
        assert file.exists()
    finally:
        process.kill()
        process.wait()


def test_what_is_paused_goes_on_before_it_is_to_end(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else all that is left is to kill it, once the time in which it should end is over."""
    stored(home)
    settings = Settings(home=home)
    settings.log_dir.mkdir()
    process = subprocess.Popen(["sleep", "300"], start_new_session=True)
    found = Identity.of(process.pid)
    assert found
    states: list[str] = []
    monkeypatch.setattr(manager, "is_running", lambda settings: True)
    monkeypatch.setattr(supervisor, "stop", lambda *_: states.append(psutil.Process(process.pid).status()))
    try:
        with guarded(settings, Lease("pause", "search", found, 60.0)):
            eventually("it is paused", lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED, 10)
            assert down().exit_code == 0
            assert states
            assert psutil.STATUS_STOPPED not in states
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("wrong", ["chosen", "saved", "torn", "null"])
def test_an_instance_ends_whatever_its_settings_say(home: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """Those of `chosen` are of whoever ends it; others may come from a former version of ours."""
    monkeypatch.setenv("MURMUR_INSTANCE", "one")
    file = stored(home, instance="one")
    settings = Settings(home=home)
    process = subprocess.Popen(["sleep", "300"], env={"MURMUR_SETTINGS": str(settings.settings_file)})
    try:
        if wrong == "chosen":
            monkeypatch.setenv("MURMUR_MAX_EVENTS_PER_TRIGGER", "many")
        elif wrong in ("torn", "null"):
            settings.settings_file.write_text({"torn": "{", "null": "null"}[wrong])
        else:
            saved = json.loads(settings.settings_file.read_text())
            settings.settings_file.write_text(json.dumps({**saved, "redis_url": "redis://u:x/y@cache/0"}))
        result = down()
        assert result.exit_code == 0
        assert "ended a leftover" in result.output
        assert file.exists()
        assert process.poll() is not None
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("wrong", ['{"partitions": "many"}', '{"partitions": 1', "null"])
def test_another_instance_is_never_taken_for_one_whose_settings_tell_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    file = stored(home)
    two = Settings(home=home, instance="two")
    two.save()
    two.settings_file.write_text(wrong)
    monkeypatch.setenv("MURMUR_SETTINGS", str(two.settings_file))
    refused = down("--wipe", "--yes")
    assert refused.exit_code
    assert file.exists()


def test_what_lies_elsewhere_is_told_though_other_settings_are_not_valid(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(home, redis_url=f"redis://:{SENTINEL}@cache/0")
    monkeypatch.setenv("MURMUR_PARTITIONS", "many")
    result = down("--wipe", "--yes")
    assert result.exit_code == 0
    assert "redis_url stays" in result.output
    assert SENTINEL not in result.output


def test_a_name_that_no_instance_can_have_is_refused(home: Path) -> None:
    assert "instance: " in down("--instance", "../other").output


def test_what_lies_elsewhere_is_not_said_to_be_removed(home: Path) -> None:
    stored(home, database_url=f"postgresql://u:{SENTINEL}@db/tweets", redis_url=f"redis://:{SENTINEL}@cache/0")
    result = down("--wipe", "--yes")
    assert "redis_url, database_url stays" in result.output
    assert "milvus_uri" not in result.output
    assert SENTINEL not in result.output
    stored(home)
    assert "stays" not in down("--wipe", "--yes").output
