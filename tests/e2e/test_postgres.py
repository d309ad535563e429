"""The whole stack with its tweets in PostgreSQL, by the address alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.search.servers import postgres_server
from tests.stack import ROOT, Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(600)]

INVENTED = ROOT / "tests" / "data" / "tweets.jsonl"
PASSWORD = "nobody-may-see-this"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Stack]:
    """The server trusts everybody on this machine: the password is there to be hidden."""
    with postgres_server() as address:
        instance = Stack("test-postgres", MURMUR_DATABASE_URL=address.replace("murmur@", f"murmur:{PASSWORD}@"))
        with instance.running():
            yield instance


def test_tweets_are_stored_in_it_found_and_accounted_for(postgres: Stack) -> None:
    run = postgres.ingest("--source", "replay", "--path", str(INVENTED), "--timestamps", "now")
    stages = postgres.audit("--run", run["run"])
    assert {name: (s["missing"], s["duplicated"]) for name, s in stages.items()} == dict.fromkeys(stages, (0, 0))
    assert stages["stored"]["found"] == 300
    hits = eventually("a search finds something", lambda: postgres.get("search", q="football", limit=5)["hits"])
    assert len(hits) == 5


def test_its_password_is_shown_nowhere(postgres: Stack) -> None:
    status = postgres.murmur("status") + postgres.murmur("status", "--json")
    assert "postgresql" in status
    logs = {file.name: file.read_text(errors="replace") for file in postgres.settings().log_dir.glob("*.log*")}
    assert logs
    assert [name for name, text in {**logs, "status": status}.items() if PASSWORD in text] == []
    commands = [Path(f"/proc/{pid}/cmdline").read_bytes() for pids in postgres.pids().values() for pid in pids]
    assert [command for command in commands if PASSWORD.encode() in command] == []
