"""`murmur load find-max` over an instance that does not run."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli import options
from cli.load import find_max


@pytest.mark.parametrize(("highest_pass", "lowest_fail", "last", "expected"), [
    (1000, None, "broken", 0), (None, 1000, "fail", 1), (None, 1000, "broken", 1), (None, None, "broken", 3),
])
def test_what_a_search_found_is_its_status(
    highest_pass: float | None, lowest_fail: float | None, last: str, expected: int,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    capacity = {"highest_pass": highest_pass, "lowest_fail": lowest_fail, "converged": False}
    assert found(capacity, [{"verdict": last}], monkeypatch, tmp_path).exit_code == expected


def test_a_budget_that_allows_no_experiment_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    capacity = {"highest_pass": None, "lowest_fail": None, "converged": False}
    result = found(capacity, [], monkeypatch, tmp_path)
    assert result.exit_code == 1
    assert "allowed no experiment" in result.output, result.output


def found(capacity: dict[str, Any], experiments: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch,
          folder: Path) -> Result:
    """What the command does with a search that ended like this."""
    monkeypatch.setattr(options, "known", lambda instance: None)
    monkeypatch.setattr(find_max, "running", lambda settings: nullcontext(SimpleNamespace(settings=None)))
    monkeypatch.setattr(find_max, "search", lambda *_: {"capacity": capacity, "experiments": experiments})
    return CliRunner().invoke(find_max.find_max, ["--budget", "0.5", "--json", "--out", str(folder)])
