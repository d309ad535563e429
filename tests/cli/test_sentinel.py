"""A password in the address of a server is in nothing that the command line says, and in no process' arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from common.process.child import program
from common.settings import Settings
from deploy.local import instances, stack
from deploy.local.processes import supervisor
from deploy.local.processes.spec import Process
from tests.stack import PORT_BASE, ROOT

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
    for name, value in {**ADDRESSES, "MURMUR_HOME": str(tmp_path), "MURMUR_PORT_BASE": str(PORT_BASE)}.items():
        monkeypatch.setenv(name, value)
    instances.reserve({})
    return tmp_path


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: what its children write belongs to what it says."""
    return subprocess.run([sys.executable, "-m", "cli", *words], cwd=ROOT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)


@pytest.mark.parametrize("words", [
    ("up",), ("status",), ("status", "--json"), ("logs", "nothing"), ("audit", "--timeout", "1"), ("down",),
    ("down", "--wipe", "--yes"), ("ingest", "--source", "synthetic", "--limit", "1"),
    ("load", "run", "--rate", "1", "--seconds", "1"),
])
def test_no_command_shows_it_when_nothing_answers(words: tuple[str, ...]) -> None:
    """`up` finds that no server is installed in this home."""
    result = run(*words)
    assert result.stdout
    assert SENTINEL not in result.stdout


@pytest.mark.parametrize("address", [
    f"tcp://u:{SENTINEL}@127.0.0.1:9", f"{SENTINEL}@127.0.0.1:9", f"tcp://127.0.0.1:9?password={SENTINEL}",
])
def test_the_address_of_the_stream_store_is_refused_with_it(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MURMUR_MIDDLEWARE_URI", address)
    result = run("status")
    assert result.returncode == 1
    assert "middleware_uri: " in result.stdout
    assert SENTINEL not in result.stdout


def test_status_shows_the_addresses_without_it() -> None:
    """Of an instance whose servers, of which one has the addresses in its environment, do not answer."""
    settings = Settings.load()
    settings.log_dir.mkdir()
    asleep = Process("asleep", (program("sleep"), "300"), stage=0, ready=lambda _: True, environment=ADDRESSES)
    supervisor.write_configuration(settings, [asleep])
    supervisor.start(settings)
    try:
        for words in (("status",), ("status", "--json")):
            result = run(*words)
            assert result.returncode == 0, result.stdout
            assert "127.0.0.1:9" in result.stdout
            assert SENTINEL not in result.stdout
        found = json.loads(run("status", "--json").stdout)
        assert found["index"]["address"].endswith("@127.0.0.1:9")
    finally:
        supervisor.stop(settings, [asleep])


def test_no_process_has_it_in_its_arguments_or_in_a_file_that_others_may_read(home: Path) -> None:
    settings = Settings.load()
    everything = stack.processes(settings)
    assert [one.name for one in everything if any(SENTINEL in part for part in one.command)] == []
    supervisor.write_configuration(settings, everything)
    holding = [path for path in home.rglob("*") if path.is_file() and SENTINEL in path.read_text(errors="replace")]
    assert [path.name for path in holding if path.stat().st_mode & 0o077] == []
