"""The rounds of a comparison: what is there already is not made again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from loadgen.comparison.ranking import Run
from loadgen.comparison.remaining import Remaining, search_seconds
from loadgen.comparison.searches import Search
from loadgen.judge.rate_search import is_judged


class SearchFailed(Exception):
    """A search could not be made, or not to its end; the message says why."""


class Ended(NamedTuple):
    """What became of the searches: the results, those that failed with the reason, and those that were not begun."""

    runs: list[Run]
    failed: dict[Search, str]
    left: list[Search]


def is_there(run: Run) -> bool:
    """Whether a result is one. A search in which everything was broken says nothing, and is made again another time."""
    return is_judged(run["capacity"])


def missing(wanted: Sequence[Search], runs: Sequence[Run]) -> list[Search]:
    there = {Search.made(run) for run in runs if is_there(run)}
    return [search for search in wanted if search not in there]


class Comparison:
    """Makes what is missing. `runs` are the results that there are, of which none but broken ones is replaced."""

    def __init__(
        self, wanted: Sequence[Search], runs: Sequence[Run], budget_s: float, ends_after_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`ends_after_s`: in which all ends, beside what is under way when an estimate was wrong."""
        self.runs, self.missing = list(runs), missing(wanted, runs)
        self._wanted, self._budget_s, self._clock = list(wanted), budget_s, clock
        self._until = None if ends_after_s is None else clock() + ends_after_s

    def run(
        self, search: Callable[[Search], Run], keep: Callable[[list[Run]], None],
        told: Callable[[Search, Remaining], None], failed: Callable[[Search, str], None],
    ) -> Ended:
        """`search` makes one, or raises SearchFailed: the others are made all the same. `keep` is called with all
        results after each; `told` before each, `failed` after one that did."""
        failures: dict[Search, str] = {}
        for n, each in enumerate(self.missing):
            seconds = self.search_seconds()
            if self._until is not None and self._clock() + seconds > self._until:
                return Ended(self.runs, failures, self.missing[n:])
            left = len(self.missing) - n
            told(each, Remaining(len(self._wanted) - left + 1, len(self._wanted), left * seconds))
            began = self._clock()
            try:
                found = search(each)
            except SearchFailed as error:
                failures[each] = str(error)
                failed(each, str(error))
                continue
            run = {"round": each.round, "side": each.side, **found, "took_s": round(self._clock() - began, 1)}
            self.runs = [*(run for run in self.runs if Search.made(run) != each), run]
            keep(self.runs)
        return Ended(self.runs, failures, [])

    def search_seconds(self) -> float:
        """What the next search will take, as far as it can be told."""
        return search_seconds([run["took_s"] for run in self.runs if is_there(run)], self._budget_s)
