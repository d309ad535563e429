"""A password in the address of a server is in nothing that the command line says, and in no process' arguments."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli import up as command
from cli.main import murmur
from common.settings import Settings
from deploy.local import processes, supervision

SENTINEL = "s3ntinel"
ADDRESSES = {
    "MURMUR_DATABASE_URL": f"postgresql+psycopg://u:{SENTINEL}@127.0.0.1:9/tweets",
    "MURMUR_REDIS_URL": f"redis://:{SENTINEL}@127.0.0.1:9/0",
    "MURMUR_MILVUS_URI": f"http://u:{SENTINEL}@127.0.0.1:9",
    "MURMUR_INGEST_TOKEN": f"{SENTINEL}-of-ingest",
    "MURMUR_X_BEARER_TOKEN": f"{SENTINEL}-of-x",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("MURMUR_")]:
        monkeypatch.delenv(name)
    for name, value in {**ADDRESSES, "MURMUR_HOME": str(tmp_path), "MURMUR_PORT_BASE": "28000"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(command, "bring_up", lambda settings, servers_only: None)
    monkeypatch.chdir(tmp_path)
    assert run("up").exit_code == 0
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(murmur, words)


@pytest.mark.parametrize("words", [
    ("status",), ("status", "--json"), ("logs", "nothing"), ("audit", "--timeout", "1"), ("down",),
    ("ingest", "--source", "synthetic", "--limit", "1"), ("load", "run", "--rate", "1", "--seconds", "1"),
])
def test_no_command_shows_it_when_nothing_answers(words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.output
    assert SENTINEL not in result.output
    assert SENTINEL not in str(result.exception)


def test_status_shows_the_addresses_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the instance ran: its servers do not answer."""
    info = {"name": "web-0", "pid": os.getpid(), "statename": "RUNNING", "start": 1}
    shown = {**info, "memory_bytes": 1, "state": "running"}
    monkeypatch.setattr("cli.status.running_processes", lambda settings: [shown])
    for words in (("status",), ("status", "--json")):
        result = run(*words)
        assert result.exit_code == 0, result.output
        assert "127.0.0.1:9" in result.output
        assert SENTINEL not in result.output
    found = json.loads(run("status", "--json").output)
    assert found["index"]["address"].endswith("@127.0.0.1:9")


def test_no_process_has_it_in_its_arguments_or_in_a_file_that_others_may_read(home: Path) -> None:
    settings = Settings.load()
    everything = [*processes.servers(settings), *processes.applications(settings)]
    assert [one.name for one in everything if any(SENTINEL in part for part in one.command)] == []
    supervision.write_configuration(settings, everything)
    holding = [path for path in home.rglob("*") if path.is_file() and SENTINEL in path.read_text(errors="replace")]
    assert [path.name for path in holding if path.stat().st_mode & 0o077] == []
