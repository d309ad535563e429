"""The middlewares by their capacity. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median_low
from typing import Any, NamedTuple

from loadgen.comparison.searches import Variant, variants
from loadgen.judge.rate_search import is_judged

Run = dict[str, Any]
"""One search, as `murmur load find-max --json` prints it, with its round, the side comparison that it is of ("" for the
main one), and how long it took with start and end of its instance (`took_s`)."""


class Ranked(NamedTuple):
    """Median over the repetitions that were judged, in tweets/s, and the lowest and the highest of them.

    Of an even number it is the lower of the two in the middle, which did pass. None: nothing passed. `of`: repetitions,
    those of which everything was broken among them.
    """

    variant: Variant
    capacity: float | None
    lowest: float | None
    highest: float | None
    converged: int
    of: int


def by_side(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Those of the main comparison (""), then those of each side comparison."""
    found: dict[str, list[Run]] = {"": []}
    for run in runs:
        found.setdefault(run["side"], []).append(run)
    return found


def ranking(runs: Sequence[Mapping[str, Any]], across: bool) -> list[Ranked]:
    """The variants, the highest capacity first; of one comparison, main or side. Raises MixedDurability for several
    classes unless `across`."""
    rows = []
    for variant, of in by_variant(runs, across).items():
        capacities = [run["capacity"] for run in of]
        passes = [found["highest_pass"] or 0.0 for found in capacities if is_judged(found)] or [0.0]
        rows.append(Ranked(
            variant, median_low(passes) or None, min(passes) or None, max(passes) or None,
            sum(bool(found["converged"]) for found in capacities), len(capacities),
        ))
    return sorted(rows, key=lambda row: -(row.capacity or 0.0))


def by_variant(runs: Sequence[Mapping[str, Any]], across: bool) -> dict[Variant, list[Mapping[str, Any]]]:
    """Raises MixedDurability."""
    found: dict[Variant, list[Mapping[str, Any]]] = {}
    for run in runs:
        found.setdefault(Variant(run["middleware"], run["durability"]), []).append(run)
    variants([v.middleware for v in found], [v.durability for v in found], across)
    return found


def typical(runs: Sequence[Run], across: bool) -> list[Run]:
    """The search of each variant that found its median, in the order of the ranking: what charts show. Those of which
    nothing passed show whichever was the last."""
    found = []
    for row in ranking(runs, across):
        of = [run for run in runs if Variant(run["middleware"], run["durability"]) == row.variant]
        found.append(next((run for run in of if run["capacity"]["highest_pass"] == row.capacity), of[-1]))
    return found
