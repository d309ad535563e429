"""`murmur load find-max` over an instance that does not run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from cli import options
from cli.load import find_max


def test_a_budget_that_allows_no_experiment_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    capacity = {"highest_pass": None, "lowest_fail": None, "converged": False}
    monkeypatch.setattr(options, "known", lambda instance: None)
    monkeypatch.setattr(find_max, "running", lambda settings: SimpleNamespace(settings=None))
    monkeypatch.setattr(find_max, "search", lambda *_: {"capacity": capacity, "experiments": []})
    result = CliRunner().invoke(find_max.find_max, ["--budget", "0.5", "--json", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "allowed no experiment" in result.output, result.output
