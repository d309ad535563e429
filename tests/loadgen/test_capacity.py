"""The search as a whole, with experiments that are made up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import loadgen.capacity
from loadgen.capacity import Search, plan_for
from loadgen.errors import DiskShort, StackBroken
from loadgen.judge.rate_search import Step
from loadgen.judge.verdict import judge
from loadgen.observe.samples import Sample
from loadgen.report.result import Result, Spec
from loadgen.report.results import write_results
from tests.loadgen.judge.test_verdict import GOOD, samples

SPEC = Spec(500)


class Watcher:
    def __init__(self) -> None:
        self.ladder: list[tuple[float, str]] = []

    def began(self, step: Step, seconds: float) -> None:
        self.seconds = seconds

    def sampled(self, phase: str, sample: Sample | None) -> None:
        """Nothing to show."""

    def ended(self, step: Step, result: Result | None, why: str) -> None:
        self.ladder.append((step.rate, result.verdict.judgement if result else why))


def experiment(limit: float, breaks_above: float = 1e9) -> type:
    """What stands for Experiment: a stack whose search gives way at `limit`."""

    class Made:
        def __init__(self, stack: Any, spec: Spec, watch: Any) -> None:
            self.spec = spec

        def run(self) -> Result:
            if self.spec.rate > breaks_above:
                raise StackBroken("spark does not run")
            growth = {"searchable": 0.1 * self.spec.rate} if self.spec.rate > limit else {}
            evidence = replace(GOOD, rate=self.spec.rate, samples=samples(growth, noise=self.spec.rate / 100))
            return Result(self.spec, "2026-01-01T00:00:00+00:00", self.spec.seconds, judge(evidence), evidence,
                          evidence.samples, {}, {"search": 0.1}, 1000, 650.0, 10, 20.0)

    return Made


def search(monkeypatch: pytest.MonkeyPatch, made: type, budget_s: float = 1e6) -> tuple[Search, Watcher]:
    monkeypatch.setattr(loadgen.capacity, "Experiment", made)
    watcher = Watcher()
    return Search(None, SPEC, plan_for(SPEC, 500), budget_s, watcher), watcher  # type: ignore[arg-type]


def test_the_capacity_and_what_gave_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found, watcher = search(monkeypatch, experiment(3000))
    kept: list[int] = []
    capacity = found.run(lambda s: kept.append(len(s.results)), lambda tweets: None)
    assert capacity.converged
    assert capacity.limited_by == "searchable"
    assert capacity.highest_pass <= 3000 < capacity.lowest_fail
    assert kept == list(range(1, len(watcher.ladder) + 1))
    assert (watcher.ladder[0], watcher.seconds) == ((500, "pass"), 120)
    path = write_results(tmp_path, {"capacity": vars(capacity), "experiments": found.results})
    content = json.loads(path.read_text())
    assert [e["purpose"] for e in content["experiments"]][-1] == "confirm"
    assert content["experiments"][0]["verdict"] == "pass"
    assert list(tmp_path.iterdir()) == [path]


def test_the_confirmation_has_time_however_long_audits_take(monkeypatch: pytest.MonkeyPatch) -> None:
    now, budget_s = [0.0], 1300.0

    class Slow(experiment(3000)):  # type: ignore[misc]
        def run(self) -> Result:
            now[0] += self.spec.settle_s + self.spec.seconds + 100
            return super().run()

    monkeypatch.setattr(loadgen.capacity, "time", SimpleNamespace(monotonic=lambda: now[0]))
    found, _ = search(monkeypatch, Slow, budget_s)
    capacity = found.run(lambda s: None, lambda tweets: None)
    assert (capacity.highest_pass, capacity.lowest_fail) == (pytest.approx(2828, abs=1), 4000)
    assert capacity.confirmed
    assert not capacity.converged
    assert now[0] <= budget_s


def test_a_broken_stack_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    found, watcher = search(monkeypatch, experiment(1e9, breaks_above=900))
    capacity = found.run(lambda s: None, lambda tweets: None)
    assert watcher.ladder == [(500, "pass"), (1000, "spark does not run"), (1000, "spark does not run")]
    assert (capacity.highest_pass, capacity.limited_by, capacity.converged) == (500, "stack", False)
    assert found.results[-1]["verdict"] == "broken"


def test_a_disk_that_becomes_short_ends_the_search_with_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(tweets: float) -> None:
        if tweets > limit:
            raise DiskShort("make room")

    found, watcher = search(monkeypatch, experiment(1e9))
    limit = 200_000
    assert found.run(lambda s: None, check).highest_pass == 1000
    assert len(watcher.ladder) == 2
    found, _ = search(monkeypatch, experiment(1e9))
    limit = 1
    with pytest.raises(DiskShort):
        found.run(lambda s: None, check)
