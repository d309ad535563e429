"""A comparison goes on where it was ended, tells how long it takes, and ends in time: with searches that are invented
and a clock that is set."""

from __future__ import annotations

from datetime import datetime

import pytest

from loadgen.comparison.ranking import Run
from loadgen.comparison.remaining import Remaining, duration, search_seconds
from loadgen.comparison.rounds import Comparison, Ended, SearchFailed, missing
from loadgen.comparison.searches import Search, Side, Variant, order

A, B = Variant("a", "fsync"), Variant("b", "fsync")
BUDGET_S = 1000.0


class Laboratory:
    """Makes searches that take `takes_s` each; ends with an interruption in that one, fails at those."""

    def __init__(self, takes_s: float = 1200.0, interrupted_in: int | None = None, fails: tuple[Search, ...] = (),
                 broken: tuple[Search, ...] = ()) -> None:
        self.now, self.made, self.kept, self.told = 0.0, [], [], []  # type: ignore[var-annotated]
        self._takes_s, self._interrupted_in, self._fails, self._broken = takes_s, interrupted_in, fails, broken
        self.failed: list[Search] = []

    def search(self, search: Search) -> Run:
        if len(self.made) == self._interrupted_in:
            raise KeyboardInterrupt
        self.made.append(search)
        self.now += self._takes_s
        if search in self._fails:
            raise SearchFailed("no server")
        found = None if search in self._broken else 100.0
        return {"middleware": search.variant.middleware, "durability": search.variant.durability, "experiments": [],
                "capacity": {"highest_pass": found, "lowest_fail": None, "converged": False}}

    def run(self, wanted: list[Search], runs: list[Run] | None = None, ends_after_s: float | None = None) -> Ended:
        comparison = Comparison(wanted, runs or [], BUDGET_S, ends_after_s, lambda: self.now)
        return comparison.run(self.search, lambda found: self.kept.append(list(found)),
                              lambda search, remaining: self.told.append(remaining),
                              lambda search, why: self.failed.append(search))


def searches(runs: list[Run]) -> list[Search]:
    return [Search.made(run) for run in runs]


def test_each_search_is_kept_as_it_ends() -> None:
    laboratory = Laboratory()
    wanted = list(order([A, B], 2))
    ended = laboratory.run(wanted)
    assert [len(kept) for kept in laboratory.kept] == [1, 2, 3, 4]
    assert searches(ended.runs) == wanted == laboratory.made
    assert [run["took_s"] for run in ended.runs] == [1200.0] * 4
    assert (ended.failed, ended.left) == ({}, [])


@pytest.mark.parametrize("interrupted_in", range(4))
def test_one_that_was_interrupted_goes_on_with_the_search_that_was_broken_off(interrupted_in: int) -> None:
    wanted = list(order([A, B], 2))
    first = Laboratory(interrupted_in=interrupted_in)
    with pytest.raises(KeyboardInterrupt):
        first.run(wanted)
    kept = first.kept[-1] if first.kept else []
    second = Laboratory()
    ended = second.run(wanted, kept)
    assert second.made == wanted[interrupted_in:]
    assert searches(ended.runs) == wanted
    assert ended.runs[:interrupted_in] == kept


def test_another_day_more_rounds_middlewares_and_sides_are_added() -> None:
    runs = Laboratory().run(list(order([A], 1))).runs
    laboratory = Laboratory()
    wanted = list(order([A, B], 2, [Side("payload", "full")]))
    ended = laboratory.run(wanted, runs)
    assert laboratory.made == wanted[1:]
    assert len(ended.runs) == 6


def test_where_all_is_there_nothing_is_made() -> None:
    wanted = list(order([A, B], 1))
    runs = Laboratory().run(wanted).runs
    again = Laboratory()
    assert again.run(wanted, runs).runs == runs
    assert (again.made, again.kept) == ([], [])


def test_fewer_that_are_asked_for_take_nothing_away() -> None:
    runs = Laboratory().run(list(order([A, B], 2))).runs
    assert Laboratory().run(list(order([A], 1)), runs).runs == runs


def test_a_search_that_fails_is_missing_and_the_others_are_made() -> None:
    wanted = list(order([A, B], 1))
    laboratory = Laboratory(fails=(wanted[0],))
    ended = laboratory.run(wanted)
    assert (searches(ended.runs), ended.failed, laboratory.failed) == ([wanted[1]], {wanted[0]: "no server"},
                                                                      [wanted[0]])
    assert missing(wanted, ended.runs) == [wanted[0]]


def test_a_search_in_which_everything_was_broken_is_made_again_in_place_of_its_result() -> None:
    wanted = list(order([A, B], 1))
    runs = Laboratory(broken=(wanted[0],)).run(wanted).runs
    assert missing(wanted, runs) == [wanted[0]]
    ended = Laboratory().run(wanted, runs)
    assert searches(ended.runs) == [wanted[1], wanted[0]]
    assert ended.runs[1]["capacity"]["highest_pass"] == 100


def test_the_estimate_is_the_budget_and_then_the_median_of_what_was_made() -> None:
    laboratory = Laboratory(takes_s=600)
    laboratory.run(list(order([A, B], 2)))
    assert laboratory.told == [Remaining(1, 4, 4 * 1150.0), Remaining(2, 4, 1800.0), Remaining(3, 4, 1200.0),
                               Remaining(4, 4, 600.0)]
    assert search_seconds([100.0, 1000.0, 300.0], BUDGET_S) == 300


def test_what_is_there_already_counts_in_the_number() -> None:
    runs = Laboratory(takes_s=600).run(list(order([A], 1))).runs
    laboratory = Laboratory()
    laboratory.run(list(order([A, B], 1)), runs)
    assert laboratory.told == [Remaining(2, 2, 600.0)]


@pytest.mark.parametrize(("ends_after_s", "made"), [(1149, 0), (1150, 1), (2399, 1), (2400, 2), (4800, 4)])
def test_it_ends_before_a_search_that_would_not_end_in_time(ends_after_s: float, made: int) -> None:
    laboratory, wanted = Laboratory(), list(order([A, B], 2))
    ended = laboratory.run(wanted, ends_after_s=ends_after_s)
    assert (laboratory.made, ended.left) == (wanted[:made], wanted[made:])
    assert laboratory.now <= max(ends_after_s, 1200)


@pytest.mark.parametrize(("seconds", "text"), [
    (3600.0, "search 2 of 16; about 1 h 00 min for all that remain, until 23:30"),
    (5 * 3600.0, "search 2 of 16; about 5 h 00 min for all that remain, until Sun 29 Nov 03:30"),
])
def test_it_is_told_with_the_hour_at_which_all_is_done(seconds: float, text: str) -> None:
    assert Remaining(2, 16, seconds).text(datetime(2026, 11, 28, 22, 30)) == text


def test_durations() -> None:
    assert [duration(seconds) for seconds in (1, 90, 3599, 18_720)] == ["1 min", "2 min", "1 h 00 min", "5 h 12 min"]


