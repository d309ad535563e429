"""The command line as a whole: help everywhere, and errors that a user can act on."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.chaos import COMMANDS as CHAOS_COMMANDS
from cli.load import COMMANDS as LOAD_COMMANDS
from cli.main import COMMANDS, murmur
from tests.stack import PORT_BASE, ROOT


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MURMUR_HOME", str(tmp_path))
    monkeypatch.delenv("MURMUR_SETTINGS", raising=False)
    monkeypatch.delenv("MURMUR_TRACEBACK", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(murmur, words)


def test_version_is_that_of_the_package():
    assert run("--version").output == f"murmur, version {version('murmuration')}\n"


@pytest.mark.parametrize("words", [*((name,) for name in COMMANDS), *(("load", name) for name in LOAD_COMMANDS),
                                   *(("chaos", name) for name in CHAOS_COMMANDS)])
def test_every_command_has_help_and_an_instance(words: tuple[str, ...]):
    result = run(*words, "--help")
    assert result.exit_code == 0
    assert "--instance" in result.output


@pytest.mark.parametrize("words", [("status",), ("logs", "spark")])
def test_an_instance_that_never_was_is_named_with_the_way_out(words: tuple[str, ...]):
    result = run(*words)
    assert result.exit_code == 1
    assert "there is no instance default" in result.output
    assert "murmur up" in result.output


def test_down_without_an_instance_is_harmless(home: Path):
    assert run("down", "--wipe").exit_code == 0
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(("words", "environment", "named"), [
    (("status", "--instance", "../x"), {}, "instance:"),
    (("up",), {"MURMUR_PARTITIONS": "none"}, "partitions:"),
    (("up", "--middleware", "carrier-pigeon"), {}, "--middleware"),
    (("nonsense",), {}, "nonsense"),
])
def test_what_is_wrong_is_named_without_a_traceback(words: tuple[str, ...], environment: dict, named: str):
    result = CliRunner(env=environment).invoke(murmur, words)
    assert result.exit_code in (1, 2)
    assert named in result.output
    assert "Traceback" not in result.output


def test_without_the_servers_up_says_how_to_install_them():
    result = CliRunner(env={"MURMUR_PORT_BASE": str(PORT_BASE)}).invoke(murmur, ["up", "--instance", "one"])
    assert result.exit_code == 1
    assert "make setup" in result.output


def test_what_a_command_makes_is_for_its_owner_only(home: Path):
    """By whatever umask it is started; `up` makes the instance's folder before it finds that no server is installed."""
    command = [sys.executable, "-m", "cli", "up", "--instance", "one"]
    environment = {**os.environ, "MURMUR_PORT_BASE": str(PORT_BASE), "PYTHONPATH": str(ROOT)}
    subprocess.run(command, env=environment, umask=0o022, capture_output=True, check=False)
    made = [path for path in home.rglob("*") if path.name != ".lock"]
    assert home / "instances" / "one" / "settings.json" in made
    assert [path for path in made if path.stat().st_mode & 0o077] == []


def test_unlike_durability_classes_are_not_compared_unless_asked_for(home: Path):
    result = run("load", "compare", "--durability", "fsync,page-cache", "--out", str(home / "out"))
    assert result.exit_code == 2
    assert "--across-durabilities" in result.output
    assert not (home / "out").exists()


def test_a_middleware_that_does_not_exist_is_named(home: Path):
    result = run("load", "compare", "--middleware", "nothing", "--out", str(home / "out"))
    assert result.exit_code == 2
    assert "nothing: choose of" in result.output
