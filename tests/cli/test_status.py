"""What `murmur status` shows and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli import options, status
from cli.status import account, stores_as_text
from common.settings import Settings
from common.storage.held import Held
from common.telemetry import ledger
from tests.ledger import kept

UP, DOWN = {"name": "search", "state": "RUNNING", "pid": 7}, {"name": "spark", "state": "FATAL", "pid": None}


@pytest.mark.parametrize(("processes", "ends_with"), [
    ([UP, UP], 0), ([UP, DOWN], 1), ([DOWN], 1), ([], 1), (None, 1),
])
def test_it_ends_with_1_unless_everything_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, processes: list[dict[str, Any]] | None, ends_with: int
) -> None:
    monkeypatch.setattr(options, "known", lambda instance: Settings(home=tmp_path))
    monkeypatch.setattr(status, "described", lambda settings: {"processes": processes})
    assert CliRunner().invoke(status.status, ["--json"]).exit_code == ends_with


def test_replicas_are_called_configured_for_nobody_counts_those_that_run() -> None:
    known = {"durability": None, "durability_asked": False, "asked": False, "path": "", "address": ""}
    found = {"instance": "one", "middleware": "kafka", "url": "", "replicas": 3, "replicated": "on two of three",
             "processes": [], **known}
    assert "3 replicas, configured: on two of three" in status.as_text(found).splitlines()


def test_the_ledger_is_a_line() -> None:
    assert account(ledger.unknown("off")) == "ledger off"
    found = kept()
    assert account(found) == "ledger differs: acknowledged 12,345, in flight 1,003, lost 6, twice 0, repeated 1"
    found["stages"][1] = ledger.unknown_stage("ranked")
    assert account(found) == (
        "ledger differs: acknowledged 12,345, in flight unknown, lost unknown, twice unknown, repeated unknown")


def test_each_store_is_a_line() -> None:
    rows = [Held("database", 12345, 5_000_000, "rows", 1000.0), Held("logs", 3 << 20, None, "bytes"),
            Held("redis", None, None, "bytes")]
    lines = [line.split() for line in stores_as_text(rows, now=1000.0 + 7200)]
    assert lines[0] == ["database", "12,345", "rows", "of", "5,000,000", "rows", "oldest", "2", "h", "ago"]
    assert lines[1] == ["logs", "3.0", "MiB", "of", "no", "bound"]
    assert lines[2] == ["redis", "unknown", "of", "no", "bound"]
