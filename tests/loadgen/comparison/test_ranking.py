"""The middlewares by their capacity."""

from __future__ import annotations

from typing import Any

import pytest

from loadgen.comparison.ranking import by_side, ranking, typical
from loadgen.comparison.searches import MixedDurability, Variant

A, B = Variant("a", "fsync"), Variant("b", "fsync")


def run(middleware: str, highest_pass: float | None, durability: str = "fsync", converged: bool = True, side: str = ""
        ) -> dict[str, Any]:
    capacity = {"highest_pass": highest_pass, "lowest_fail": 400, "converged": converged}
    return {"middleware": middleware, "durability": durability, "capacity": capacity, "side": side}


BROKEN = {"middleware": "a", "durability": "fsync",
          "capacity": {"highest_pass": None, "lowest_fail": None, "converged": False}}


def test_the_median_ranks() -> None:
    rows = ranking([run("a", 100), run("b", 300), run("b", None, converged=False), run("a", 120), run("a", 110),
                    run("b", 90)], across=False)
    assert [(row.variant, row.capacity) for row in rows] == [(A, 110), (B, 90)]
    assert (rows[1].lowest, rows[1].highest, rows[1].converged, rows[1].of) == (None, 300, 2, 3)


def test_a_search_that_was_broken_says_nothing_about_the_rate() -> None:
    [row] = ranking([run("a", 100), BROKEN, run("a", 130), BROKEN], across=False)
    assert row == (A, 100, 100, 130, 2, 4)
    assert ranking([BROKEN], across=False) == [(A, None, None, None, 0, 1)]


def test_results_of_unlike_classes_are_not_ranked() -> None:
    runs = [run("a", 100), run("a", 200, "page-cache")]
    with pytest.raises(MixedDurability):
        ranking(runs, across=False)
    assert [row.capacity for row in ranking(runs, across=True)] == [200, 100]


def test_a_side_comparison_is_ranked_by_itself() -> None:
    aside = run("a", 900, "page-cache", side="durability=page-cache")
    of = by_side([aside, run("a", 100)])
    assert list(of) == ["", "durability=page-cache"]
    assert [row.capacity for row in ranking(of[""], across=False)] == [100]
    assert [row.capacity for row in ranking(of["durability=page-cache"], across=False)] == [900]


def test_the_search_that_found_the_median_stands_for_all() -> None:
    runs = [run("a", 100), run("a", 130), run("a", 120), run("b", 200), run("c", None)]
    assert typical(runs, across=False) == [runs[3], runs[2], runs[4]]
