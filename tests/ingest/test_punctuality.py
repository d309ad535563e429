from __future__ import annotations

import pytest

from ingest.punctuality import ON_SCHEDULE_US, Punctuality, held_us

S = 1_000_000
CASES = {
    "waiting for a full queue": ((S, 1000, 0, S), S - 1000),
    "working while the publisher sends": ((S, S - 1000, 0, S), 1000),
    "sleeping while the publisher sends": ((S, 0, S, S), 0),
    "frozen, with no send going on": ((S, 0, 0, 0), 0),
    "a short send": ((S, 0, 0, S // 10), S // 10),
    "clocks that disagree": ((S, S + 5, 0, S), 0),
}


@pytest.mark.parametrize(("measured", "held"), CASES.values(), ids=CASES)
def test_held(measured: tuple[int, int, int, int], held: int) -> None:
    assert held_us(*measured) == held


def counts(punctuality: Punctuality) -> tuple[int, int, int]:
    return punctuality.on_schedule, punctuality.blocked, punctuality.late


def test_what_is_taken_soon_is_on_schedule() -> None:
    punctuality = Punctuality()
    punctuality.took([0, ON_SCHEDULE_US], ON_SCHEDULE_US, 0)
    assert counts(punctuality) == (2, 0, 0)


def test_a_generator_that_is_not_held_is_late() -> None:
    punctuality = Punctuality()
    punctuality.took([0, 4 * S], 4 * S + 1, 0)
    assert counts(punctuality) == (1, 0, 1)


def test_what_was_held_explains_lateness_until_the_schedule_is_caught_up_with() -> None:
    """Held for 5 s; then two groups catch up, without being held any more."""
    punctuality = Punctuality()
    punctuality.took([0, 2 * S], 5 * S, 5 * S)
    punctuality.took([3 * S, 4 * S], 5 * S + 1000, 0)
    assert counts(punctuality) == (0, 4, 0)
    punctuality.took([6 * S], 6 * S, 0)
    punctuality.took([7 * S], 9 * S, 0)
    assert counts(punctuality) == (1, 4, 1)


def test_being_held_for_a_short_time_is_no_excuse_for_a_long_one() -> None:
    punctuality = Punctuality()
    punctuality.took([0], 5 * S, S)
    assert counts(punctuality) == (0, 0, 1)


def test_held_while_nothing_is_due_is_forgotten() -> None:
    punctuality = Punctuality()
    punctuality.took([], 5 * S, 5 * S)
    punctuality.took([5 * S], 9 * S, 0)
    assert counts(punctuality) == (0, 0, 1)
