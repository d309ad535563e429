"""Which rate to try next, from the attempts so far. Pure: it runs nothing, it reads no clock.

A geometric ramp finds a rate that fails, bisection narrows the interval between the highest rate that passed and the
lowest that failed, a longer attempt at the highest pass confirms it, if none has yet. Bisection is at the geometric
mean, because the tolerance is a ratio.

Noise on a shared machine makes sustainable rates fail far more often than it makes others pass. So the failure that
bounds the result gets one second look before the result stands, if there is time for more than the confirmation, and of
several attempts at one rate the last counts.
What is claimed is always conservative: the highest pass lies below every rate whose last attempt failed. An attempt
that could not be judged is made once more; if that cannot be judged either, the search is over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Outcome = Literal["pass", "fail", "generator-limited", "host-saturated", "broken"]
"""`broken`: it could not be judged, so that it says nothing about the rate."""

Purpose = Literal["ramp", "bisect", "second-look", "confirm"]


@dataclass(frozen=True)
class Attempt:
    """One finished experiment. `limited_by` is the stage that gave way, "generator" or "host"; None for a pass.

    `long`: it was measured for as long as a confirmation. A shorter one that leaves doubt is prolonged to that.
    """

    rate: float
    purpose: Purpose
    outcome: Outcome
    limited_by: str | None = None
    long: bool = False


@dataclass(frozen=True)
class Step:
    """What to try next: `rate` in tweets/s."""

    rate: float
    purpose: Purpose


@dataclass(frozen=True)
class Capacity:
    """The result, in tweets/s: the capacity lies in [highest_pass, lowest_fail).

    `highest_pass` is None if nothing passed, `lowest_fail` if nothing failed (the generator or the bounds of the search
    ended it). `converged`: both are known, within the tolerance, and the highest pass is confirmed.
    """

    highest_pass: float | None
    lowest_fail: float | None
    limited_by: str | None
    confirmed: bool
    converged: bool


def is_judged(capacity: Mapping[str, Any]) -> bool:
    """Of a Capacity, as it is in results.json, whether any rate passed or failed; without, all experiments were broken,
    and nothing is known."""
    return capacity["highest_pass"] is not None or capacity["lowest_fail"] is not None


@dataclass(frozen=True)
class Plan:
    """Bounds of a search. Rates in tweets/s; `attempt_s` and `confirmation_s` are what an attempt takes, all told."""

    first: float = 1000.0
    factor: float = 2.0
    tolerance: float = 0.05
    lowest: float = 1.0
    highest: float = 1_000_000.0
    attempt_s: float = 110.0
    confirmation_s: float = 170.0


def next_step(plan: Plan, history: Sequence[Attempt], left_s: float) -> Step | Capacity:
    """The next attempt, or the result when there is none to make in the `left_s` seconds that remain.

    Always ends: no rate is judged more than four times (each purpose once, a confirmation with its second look
    twice), and the rates lie between `lowest` and `highest`, more than a quarter of the tolerance apart but for the one
    below a pass that its confirmation failed, which may come close to the next lower pass.
    """
    found, broken = capacity(plan, history), history and history[-1].outcome == "broken"
    if broken and len(history) > 1 and history[-2].outcome == "broken":
        return found
    last, history = history[-1:], _judged(history)
    step = Step(last[0].rate, last[0].purpose) if broken else _wanted(plan, history)
    if step is None:
        return found
    if not broken and not is_long(step, history) and left_s < plan.attempt_s + plan.confirmation_s:
        # What is left is better spent on being sure of the highest pass than on one more halving, or on a second look.
        step = _confirmation(history, found) or step
    cost = plan.confirmation_s if is_long(step, history) else plan.attempt_s
    return step if cost <= left_s else found


def capacity(plan: Plan, history: Sequence[Attempt]) -> Capacity:
    """What the attempts show, whether or not the search is over."""
    stopped = history[-1].limited_by if history and history[-1].outcome == "broken" else None
    history = _judged(history)
    low, high = _bounds(history)
    confirmed = low is not None and _is_confirmed(history, low)
    failure = _last_at(history, high) if high is not None else None
    truly_failed = failure is not None and failure.outcome != "generator-limited"
    return Capacity(
        highest_pass=low,
        lowest_fail=high if truly_failed else None,
        limited_by=failure.limited_by if failure else stopped,
        confirmed=confirmed,
        converged=bool(confirmed and truly_failed and low and high and _is_narrow(plan, low, high)),
    )


def is_long(step: Step, before: Sequence[Attempt]) -> bool:
    """Whether it is a confirmation, or the second look at a failed one: those are measured for longer at once."""
    if step.purpose == "confirm":
        return True
    last = _last_at(_judged(before), step.rate) if step.purpose == "second-look" else None
    return last is not None and last.purpose == "confirm"


def _judged(history: Sequence[Attempt]) -> list[Attempt]:
    return [attempt for attempt in history if attempt.outcome != "broken"]


def _wanted(plan: Plan, history: Sequence[Attempt]) -> Step | None:
    """The next attempt if there were time for everything."""
    low, high = _bounds(history)
    if not history:
        return Step(plan.first, "ramp")
    if high is None:
        assert low is not None
        return Step(_higher(plan, history, low), "ramp") if low < plan.highest else _confirm_once(history, low)
    if low is None:
        if high > plan.lowest:
            return Step(max(high / plan.factor, plan.lowest), "ramp")
        return _second_look(history, high)
    if not _is_narrow(plan, low, high):
        hardly = any(attempt.rate == high and attempt.outcome == "pass" for attempt in history)
        return Step(high / (1 + plan.tolerance), "confirm") if hardly else Step(math.sqrt(low * high), "bisect")
    return _second_look(history, high) or _confirm_once(history, low)


def _higher(plan: Plan, history: Sequence[Attempt], low: float) -> float:
    """The ramp's next rate; a smaller step where a failure turned out to be noise, as those are close to the limit."""
    failed = any(attempt.outcome != "pass" for attempt in history)
    return min(low * (math.sqrt(plan.factor) if failed else plan.factor), plan.highest)


def _bounds(history: Sequence[Attempt]) -> tuple[float | None, float | None]:
    """(highest pass below every failure, lowest failure), by the last attempt at each rate."""
    last = {attempt.rate: attempt.outcome for attempt in history}
    high = min((rate for rate, outcome in last.items() if outcome != "pass"), default=None)
    passes = [rate for rate, outcome in last.items() if outcome == "pass" and (high is None or rate < high)]
    return max(passes, default=None), high


def _is_narrow(plan: Plan, low: float, high: float) -> bool:
    return high / low <= (1 + plan.tolerance) * (1 + 1e-9)  # the quotient of what was divided by it may be above it


def _is_confirmed(history: Sequence[Attempt], rate: float) -> bool:
    return any(attempt.rate == rate and attempt.long and attempt.outcome == "pass" for attempt in history)


def _second_look(history: Sequence[Attempt], rate: float) -> Step | None:
    """The failure is looked at again, unless that was done: a generator at its limit is no noise of the system."""
    of_rate = [attempt for attempt in history if attempt.rate == rate]
    if of_rate[-1].outcome == "generator-limited" or any(attempt.purpose == "second-look" for attempt in of_rate):
        return None
    return Step(rate, "second-look")


def _confirm_once(history: Sequence[Attempt], rate: float) -> Step | None:
    tried = any(attempt.rate == rate and attempt.purpose == "confirm" for attempt in history)
    return None if tried or _is_confirmed(history, rate) else Step(rate, "confirm")


def _confirmation(history: Sequence[Attempt], found: Capacity) -> Step | None:
    return None if found.highest_pass is None else _confirm_once(history, found.highest_pass)


def _last_at(history: Sequence[Attempt], rate: float) -> Attempt | None:
    return next((attempt for attempt in reversed(history) if attempt.rate == rate), None)
