"""Middlewares side by side under the same application: the same search on each, in alternation.

Each search runs on an instance of its own that is started for it and removed after it, so that none meets what another
left behind; only one runs at a time, since they would share the cores. Every second round goes through the middlewares
in reverse order, so that a drift of the host does not always hit the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple

from loadgen.judge.rate_search import is_judged
from loadgen.report.page import write_report
from loadgen.report.results import command, write_results

Run = dict[str, Any]
"""One search, as `murmur load find-max --json` prints it."""


class MixedDurability(Exception):
    """A ranking across durability classes was not asked for."""


class Variant(NamedTuple):
    """What is compared."""

    middleware: str
    durability: str

    def __str__(self) -> str:
        return f"{self.middleware} ({self.durability})"


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


def variants(middlewares: Sequence[str], durabilities: Sequence[str], across: bool) -> list[Variant]:
    """All combinations, each once. Raises MixedDurability for several classes unless `across`."""
    classes = list(dict.fromkeys(durabilities))
    if len(classes) > 1 and not across:
        raise MixedDurability(
            f"an acknowledgement means something else in {' and in '.join(classes)}: a ranking across them compares "
            "unlike things; compare within one class, or ask for it with --across-durabilities"
        )
    return [Variant(m, d) for d in classes for m in dict.fromkeys(middlewares)]


def order(of: Sequence[Variant], repeat: int) -> Iterator[tuple[int, Variant]]:
    """(number of the round from 1, variant): there and back again."""
    for n in range(repeat):
        for variant in reversed(of) if n % 2 else of:
            yield n + 1, variant


def compare(
    of: Sequence[Variant], repeat: int, search: Callable[[Variant, int], Run], keep: Callable[[list[Run]], None]
) -> list[Run]:
    """The searches, in the order in which they ran. `keep` is called after each, to write what there is."""
    runs: list[Run] = []
    for number, variant in order(of, repeat):
        runs.append({"round": number, **search(variant, number)})
        keep(runs)
    return runs


def ranking(runs: Sequence[Mapping[str, Any]], across: bool) -> list[Ranked]:
    """The variants, the highest capacity first. Raises MixedDurability for several classes unless `across`."""
    by_variant: dict[Variant, list[Mapping[str, Any]]] = {}
    for run in runs:
        by_variant.setdefault(Variant(run["middleware"], run["durability"]), []).append(run["capacity"])
    variants([v.middleware for v in by_variant], [v.durability for v in by_variant], across)
    rows = []
    for variant, capacities in by_variant.items():
        passes = [found["highest_pass"] or 0.0 for found in capacities if is_judged(found)] or [0.0]
        rows.append(Ranked(
            variant, median_low(passes) or None, min(passes) or None, max(passes) or None,
            sum(bool(found["converged"]) for found in capacities), len(capacities),
        ))
    return sorted(rows, key=lambda row: -(row.capacity or 0.0))


def keep(folder: Path, runs: list[Run], across: bool) -> None:
    write_results(folder, as_results(runs, across))
    write_report(folder, runs, note(runs, across))


def note(runs: list[Run], across: bool) -> str:
    rows = [f"{row.variant}: {row.capacity:,.0f}/s" if row.capacity else f"{row.variant}: nothing passed"
            for row in ranking(runs, across)]
    return f"Median capacity over {max(run['round'] for run in runs)} round(s): " + ", ".join(rows)


def as_results(runs: list[Run], across: bool) -> dict[str, Any]:
    rows = [{**row._asdict(), "variant": str(row.variant)} for row in ranking(runs, across)]
    return {
        "kind": "comparison", "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command(), "ranking": rows, "runs": runs,
    }
