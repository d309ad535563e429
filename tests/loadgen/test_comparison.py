from __future__ import annotations

from typing import Any

import pytest

from loadgen.comparison import MixedDurability, Variant, compare, order, ranking, variants

A, B = Variant("a", "fsync"), Variant("b", "fsync")


def run(middleware: str, highest_pass: float | None, durability: str = "fsync", converged: bool = True
        ) -> dict[str, Any]:
    capacity = {"highest_pass": highest_pass, "lowest_fail": 400, "converged": converged}
    return {"middleware": middleware, "durability": durability, "capacity": capacity}


BROKEN = {"middleware": "a", "durability": "fsync",
          "capacity": {"highest_pass": None, "lowest_fail": None, "converged": False}}


def test_every_second_round_goes_back() -> None:
    assert [variant for _, variant in order([A, B], 3)] == [A, B, B, A, A, B]
    assert [number for number, _ in order([A, B], 3)] == [1, 1, 2, 2, 3, 3]


def test_each_search_is_kept_as_it_comes() -> None:
    kept: list[int] = []
    runs = compare([A, B], 2, lambda variant, number: run(variant.middleware, 100), lambda r: kept.append(len(r)))
    assert kept == [1, 2, 3, 4]
    assert [(r["round"], r["middleware"]) for r in runs] == [(1, "a"), (1, "b"), (2, "b"), (2, "a")]


def test_classes_are_not_mixed_unless_asked_for() -> None:
    with pytest.raises(MixedDurability, match="something else in fsync and in page-cache"):
        variants(["a"], ["fsync", "page-cache"], across=False)
    assert variants(["a", "b", "a"], ["fsync", "fsync"], across=False) == [A, B]
    assert len(variants(["a", "b"], ["fsync", "page-cache"], across=True)) == 4


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
