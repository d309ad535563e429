"""The strategy against simulated systems whose true limit is known."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.judge.rate_search import Attempt, Capacity, Outcome, Plan, Step, capacity, is_long, next_step

PLAN = Plan(first=500, lowest=1)
AMPLE = 1e9
System = Callable[[float, bool, int], Outcome]
"""(rate, whether the attempt is a long one, number of attempts before) → outcome."""

limits = st.floats(1.5, 100_000)
budgets = st.floats(0, 10_000)


def search(system: System, budget_s: float = AMPLE, plan: Plan = PLAN) -> tuple[Capacity, list[Attempt]]:
    """Runs a search to its end; fails if it does not end."""
    history: list[Attempt] = []
    for _ in range(2000):
        step = next_step(plan, history, budget_s)
        if isinstance(step, Capacity):
            return step, history
        long = is_long(step, history)
        budget_s -= plan.confirmation_s if long else plan.attempt_s
        assert budget_s >= 0, "an attempt that does not fit into the budget"
        assert plan.lowest <= step.rate <= plan.highest
        outcome = system(step.rate, long, len(history))
        by = None if outcome == "pass" else "generator" if outcome == "generator-limited" else "searchable"
        history.append(Attempt(step.rate, step.purpose, outcome, by, long))
    raise AssertionError("the search does not end")


def sharp(limit: float) -> System:
    return lambda rate, long, n: "pass" if rate <= limit else "fail"


def check_claim(found: Capacity, history: list[Attempt]) -> None:
    """What is claimed was attempted, and the last word on it was the one claimed."""
    last = {attempt.rate: attempt.outcome for attempt in history}
    if found.highest_pass is not None:
        assert last[found.highest_pass] == "pass"
        assert all(rate > found.highest_pass for rate, outcome in last.items() if outcome != "pass")
    if found.lowest_fail is not None:
        assert last[found.lowest_fail] not in ("pass", "generator-limited")
    if found.converged:
        assert found.confirmed


@given(limits)
def test_a_sharp_limit_is_found_within_the_tolerance(limit: float) -> None:
    found, history = search(sharp(limit))
    assert found.converged
    assert found.highest_pass <= limit < found.lowest_fail <= found.highest_pass * 1.05
    assert found.limited_by == "searchable"
    assert history[-1].purpose == "confirm"
    check_claim(found, history)


@given(limits, budgets)
def test_when_the_budget_ends_the_interval_so_far_stands(limit: float, budget_s: float) -> None:
    found, history = search(sharp(limit), budget_s)
    check_claim(found, history)
    if found.highest_pass is not None:
        assert found.highest_pass <= limit
    if found.lowest_fail is not None:
        assert found.lowest_fail > limit
    if not found.converged:
        assert budget_s < 10_000


def test_25_minutes_are_enough_for_an_ordinary_limit() -> None:
    found, _ = search(sharp(6100), 25 * 60)
    assert found.confirmed
    assert found.highest_pass == pytest.approx(6100, rel=0.1)


def test_before_the_budget_ends_the_highest_pass_is_confirmed() -> None:
    found, history = search(sharp(3000), 5 * PLAN.attempt_s + PLAN.confirmation_s)
    assert found.confirmed
    assert not found.converged
    assert history[-1].purpose == "confirm"


def test_a_second_look_does_not_take_the_time_of_the_confirmation() -> None:
    plan = Plan(first=4000)
    found, history = search(
        lambda rate, long, n: "pass" if rate <= 14_300 and n != 6 else "fail",
        8.5 * plan.attempt_s + plan.confirmation_s, plan,
    )  # fmt: skip
    assert [attempt.purpose for attempt in history[5:]] == ["bisect", "bisect", "second-look", "confirm"]
    assert found.converged


def test_a_ramp_that_goes_on_after_a_false_failure_takes_smaller_steps() -> None:
    _, history = search(lambda rate, long, n: "pass" if rate <= 9000 and n != 1 else "fail", plan=Plan(first=4000))
    again = [attempt.purpose for attempt in history].index("second-look")
    assert (history[again].rate, history[again].outcome) == (8000, "pass")
    assert history[again + 1].purpose == "ramp"
    assert history[again + 1].rate == pytest.approx(8000 * 2**0.5)


def test_a_pass_that_was_prolonged_needs_no_confirmation() -> None:
    history = [
        Attempt(1000, "ramp", "pass", long=True), Attempt(1040, "ramp", "fail", "searchable"),
        Attempt(1040, "second-look", "fail", "searchable"),
    ]  # fmt: skip
    found = next_step(PLAN, history, AMPLE)
    assert isinstance(found, Capacity)
    assert found.converged


@given(limits, st.integers(0, 10_000), st.floats(0, 0.4))
def test_noise_that_fails_sustainable_rates(limit: float, seed: int, probability: float) -> None:
    noise = random.Random(seed)

    def noisy(rate: float, long: bool, n: int) -> Outcome:
        return "pass" if rate <= limit and noise.random() >= probability else "fail"

    found, history = search(noisy)
    check_claim(found, history)
    assert found.highest_pass is None or found.highest_pass <= limit


@given(st.floats(100, 50_000), st.integers(0, 12))
def test_one_false_failure_does_not_change_the_result(limit: float, at: int) -> None:
    found, _ = search(lambda rate, long, n: "pass" if rate <= limit and n != at else "fail")
    assert found.converged
    assert limit / 1.06 <= found.highest_pass <= limit


@given(limits, st.floats(0.02, 0.3), st.integers(0, 10_000))
def test_a_limit_that_is_not_sharp(limit: float, width: float, seed: int) -> None:
    """Around the limit the outcome is a matter of chance."""
    chance = random.Random(seed)
    found, history = search(lambda rate, long, n: "pass" if rate <= limit * chance.uniform(1 - width, 1) else "fail")
    check_claim(found, history)
    assert found.highest_pass is None or found.highest_pass <= limit


@given(limits, st.floats(0.5, 0.99))
def test_slow_degradation_shows_in_the_confirmation(limit: float, sustained: float) -> None:
    """Short attempts pass up to the limit, long ones only up to a part of it."""
    found, history = search(lambda rate, long, n: "pass" if rate <= limit * (sustained if long else 1) else "fail")
    check_claim(found, history)
    if found.converged:
        assert found.highest_pass <= limit * sustained


@given(limits, st.floats(0.96, 0.999))
def test_a_confirmation_that_hardly_fails_costs_little(limit: float, sustained: float) -> None:
    """The limit of long attempts lies less than the tolerance below that of short ones."""
    found, history = search(lambda rate, long, n: "pass" if rate <= limit * (sustained if long else 1) else "fail")
    assert found.converged
    assert limit * sustained / 1.05**2 <= found.highest_pass <= limit * sustained
    failed = [n for n, attempt in enumerate(history) if attempt.long and attempt.outcome == "fail"]
    assert not failed or len(history) - failed[0] <= 5


def test_after_a_failed_confirmation_of_a_ramps_rate_there_is_still_a_result() -> None:
    plan = Plan(first=8000)
    found, history = search(
        lambda rate, long, n: "pass" if rate <= (15_900 if long else 16_700) else "fail",
        8 * plan.attempt_s + 2 * plan.confirmation_s, plan,
    )  # fmt: skip
    assert [attempt.purpose for attempt in history] == [
        "ramp", "ramp", "ramp", "bisect", "bisect", "bisect", "bisect", "second-look",
        "confirm", "confirm"]  # fmt: skip
    assert found.converged
    assert (found.highest_pass, found.lowest_fail) == (pytest.approx(16_000 / 1.05), 16_000)


@given(limits, st.floats(0.001, 0.2))
def test_a_system_that_becomes_slower_with_every_attempt(limit: float, loss: float) -> None:
    found, history = search(lambda rate, long, n: "pass" if rate <= limit * (1 - loss) ** n else "fail")
    check_claim(found, history)


@given(st.floats(0.001, 0.999))
def test_a_limit_below_the_lowest_rate(limit: float) -> None:
    found, history = search(sharp(limit))
    assert (found.highest_pass, found.lowest_fail) == (None, PLAN.lowest)
    assert not found.converged
    check_claim(found, history)


@given(st.floats(1.5, 499))
def test_a_limit_below_the_first_rate(limit: float) -> None:
    found, _ = search(sharp(limit))
    assert found.converged
    assert found.highest_pass <= limit < found.lowest_fail


@given(st.floats(600, 50_000), st.floats(1.1, 50))
def test_a_limit_above_the_generators(generator: float, factor: float) -> None:
    """The system's limit lies beyond what the generator can send."""
    found, history = search(lambda rate, long, n: "pass" if rate <= generator else "generator-limited")
    assert generator / 1.05 <= found.highest_pass <= generator
    assert found.lowest_fail is None
    assert found.limited_by == "generator"
    assert found.confirmed
    assert not found.converged
    check_claim(found, history)


def test_a_limit_above_the_highest_rate() -> None:
    found, history = search(sharp(1e12))
    assert found.highest_pass == PLAN.highest
    assert found.confirmed
    assert not found.converged
    check_claim(found, history)


@given(limits, st.integers(0, 12), budgets)
def test_a_system_that_dies_fails_for_ever(limit: float, dies_at: int, budget_s: float) -> None:
    found, history = search(lambda rate, long, n: "pass" if rate <= limit and n < dies_at else "fail", budget_s)
    check_claim(found, history)


def judged(history: list[Attempt]) -> list[Attempt]:
    return [attempt for attempt in history if attempt.outcome != "broken"]


@given(limits, st.integers(0, 12))
def test_a_stack_that_stays_broken_is_tried_once_more_and_then_left(limit: float, breaks_at: int) -> None:
    found, history = search(lambda rate, long, n: "broken" if n >= breaks_at else sharp(limit)(rate, long, n))
    broken = [attempt for attempt in history if attempt.outcome == "broken"]
    assert len(broken) in (0, 2)
    assert history[len(history) - len(broken) :] == broken
    assert len({(attempt.rate, attempt.purpose) for attempt in broken}) == bool(broken)
    check_claim(found, judged(history))


@given(limits, st.sets(st.integers(0, 20)))
def test_what_could_not_be_judged_once_changes_nothing(limit: float, breaks_at: set[int]) -> None:
    alone = {n for n in breaks_at if n - 1 not in breaks_at}
    found, history = search(lambda rate, long, n: "broken" if n in alone else sharp(limit)(rate, long, n))
    expected, without = search(sharp(limit))
    assert found == expected
    assert judged(history) == without


@given(st.lists(st.tuples(st.floats(1, 1e6), st.sampled_from(["ramp", "bisect", "confirm"]),
                          st.sampled_from(["pass", "fail", "generator-limited", "host-saturated", "broken"])),
                max_size=20))
def test_any_history_yields_a_step_or_a_result(attempts: list[tuple]) -> None:
    history = [Attempt(*attempt) for attempt in attempts]
    assert isinstance(next_step(PLAN, history, AMPLE), Step | Capacity)
    check_claim(capacity(PLAN, history), judged(history))
