"""The search for the capacity: the strategy decides, experiments answer, everything is written as it comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, Protocol

from loadgen.errors import BREAKING, DiskShort
from loadgen.experiment import Experiment, Stack
from loadgen.judge.rate_search import Attempt, Capacity, Outcome, Plan, Step, capacity, is_long, next_step
from loadgen.observe.samples import Sample
from loadgen.report.result import Result, Spec

CONFIRMATION_SECONDS = 120.0
OVERHEAD_SECONDS = 30.0
"""Of an experiment, beside its interval and the time to settle: start, drain and audit. Until it is known better."""


class Watcher(Protocol):
    """Who shows the search."""

    def began(self, step: Step, seconds: float) -> None: ...

    def sampled(self, phase: str, sample: Sample | None) -> None: ...

    def ended(self, step: Step, result: Result | None, why: str) -> None:
        """`why` says what broke where there is no result."""


class Search:
    """Finds the capacity of one stack within a budget of time."""

    def __init__(self, stack: Stack, spec: Spec, plan: Plan, budget_s: float, watcher: Watcher) -> None:
        """`spec` is that of every experiment, but for its rate and length; `plan` as `plan_for` makes it."""
        self._stack, self.spec, self._plan, self._watcher = stack, spec, plan, watcher
        self._until = time.monotonic() + budget_s
        self.history: list[Attempt] = []
        self.results: list[dict[str, Any]] = []

    def run(self, keep: Callable[[Search], None], check: Callable[[float], None]) -> Capacity:
        """The capacity. `keep` is called after each experiment, to write what there is.

        `check` is called before each, with the number of tweets that it will bring; if it raises DiskShort, the search
        ends with what it knows, and raises that as well if this is nothing.
        """
        while True:
            step = next_step(self._plan, self.history, self._until - time.monotonic())
            if isinstance(step, Capacity):
                return step
            long = is_long(step, self.history)
            spec = replace(self.spec, rate=step.rate, gives_up=True,
                           seconds=max(self.spec.seconds, CONFIRMATION_SECONDS) if long else self.spec.seconds)
            try:
                check(step.rate * (spec.settle_s + 2 * spec.seconds))
            except DiskShort:
                if not self.history:
                    raise
                return self.capacity()
            self._watcher.began(step, spec.seconds)
            began = time.monotonic()
            self._try(step, spec)
            self._learn(time.monotonic() - began)
            keep(self)

    def capacity(self) -> Capacity:
        """What is known so far."""
        return capacity(self._plan, self.history)

    def _learn(self, took_s: float) -> None:
        """Plans with the slowest pass, or the confirmation would not have the time that is left for it.

        An audit takes longer at higher rates; how long an overload takes to drain says nothing about the next attempt.
        """
        usual_s = took_s - self.results[-1]["seconds"] + self.spec.seconds
        if self.history[-1].outcome == "pass" and (more := usual_s - self._plan.attempt_s) > 0:
            self._plan = replace(self._plan, attempt_s=usual_s, confirmation_s=self._plan.confirmation_s + more)

    def _try(self, step: Step, spec: Spec) -> None:
        try:
            result = Experiment(self._stack, spec, self._watcher.sampled).run()
        except BREAKING as error:
            self.history.append(Attempt(step.rate, step.purpose, "broken", "stack"))
            self.results.append({**asdict(spec), "purpose": step.purpose, "verdict": "broken", "reason": str(error)})
            self._watcher.ended(step, None, str(error))
            return
        outcome: Outcome = result.verdict.judgement
        long = result.seconds >= CONFIRMATION_SECONDS
        self.history.append(Attempt(step.rate, step.purpose, outcome, result.verdict.limited_by, long))
        self.results.append({"purpose": step.purpose, **result.as_json()})
        self._watcher.ended(step, result, result.verdict.reason)


def plan_for(spec: Spec, first: float) -> Plan:
    """Bounds of a search whose experiments are like `spec`."""
    around = spec.settle_s + OVERHEAD_SECONDS
    confirmation = max(spec.seconds, CONFIRMATION_SECONDS)
    return Plan(first=first, attempt_s=around + spec.seconds, confirmation_s=around + confirmation)
