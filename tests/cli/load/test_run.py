"""`murmur load run` over an instance that does not run."""

from __future__ import annotations

import json
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from cli import options
from cli.load import run as command
from common.telemetry.latency import KEPT_SECONDS
from loadgen.errors import GeneratorFailed
from loadgen.experiment import LONGEST_SECONDS, REPORT_SECONDS
from loadgen.judge.verdict import DRAIN_SECONDS


def test_an_interval_is_judged_before_its_latencies_are_dropped() -> None:
    assert 2 * LONGEST_SECONDS + DRAIN_SECONDS + REPORT_SECONDS <= KEPT_SECONDS
    result = CliRunner().invoke(command.run, ["--rate", "100", "--seconds", f"{LONGEST_SECONDS + 1}"])
    assert result.exit_code == 2
    assert f"<={LONGEST_SECONDS}" in result.output


def test_an_experiment_that_breaks_has_the_status_of_what_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise GeneratorFailed("a generator ended:\nno tweets")

    monkeypatch.setattr(options, "known", lambda instance: None)
    monkeypatch.setattr(command, "running", lambda settings: nullcontext(SimpleNamespace(settings=None)))
    monkeypatch.setattr(command, "measure", fail)
    result = CliRunner().invoke(command.run, ["--rate", "100", "--json"])
    assert result.exit_code == 3
    assert json.loads(result.output) == {"verdict": "broken", "reason": "a generator ended:\nno tweets"}
