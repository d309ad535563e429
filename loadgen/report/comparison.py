"""What the report of a comparison says before it goes into each search: rankings, what limited, the stores' settings.
Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from common.tweets import STAGES
from loadgen.comparison.ranking import Run, by_side, by_variant, ranking, typical
from loadgen.comparison.searches import Side
from loadgen.judge.rate_search import is_judged
from loadgen.report.page import measured_at
from loadgen.report.tables import Html, rate, table

SMALLEST_SHARE = 0.005
"""Of the CPU: processes that use less with every middleware have no row."""


def charted(runs: Sequence[Run], across: bool) -> list[Run]:
    """The searches that charts show: of the main comparison one for each middleware."""
    return typical(by_side(runs)[""], across)


def sections(runs: Sequence[Run], across: bool, spec: Mapping[str, Any]) -> dict[str, str]:
    """Heading → content, the main comparison first."""
    found = {}
    for side, of in by_side(runs).items():
        title = f"Aside, one round: {heading(side, spec)}" if side else "Ranking"
        found[title] = _ranking(of, across) + _at_highest_pass(typical(of, across)) if of else ""
    main = charted(runs, across) or list(runs)
    found["CPU seconds per 1,000 tweets at the highest pass"] = _cpu(main)
    found["What is equal"] = _equal(main)
    found["Settings of each store, and why"] = _settings(main)
    found["What each store's documentation recommends or offers, and is not in use"] = _recommended(main)
    return found


def heading(side: str, spec: Mapping[str, Any]) -> str:
    """What a side comparison has otherwise than the main one."""
    what, value = Side.of(side)
    usual = spec.get(what, "")
    return f"{what} {value} instead of {', '.join(usual) if isinstance(usual, list) else usual}"


def _ranking(runs: Sequence[Run], across: bool) -> str:
    rows = []
    of = by_variant(runs, across)
    for row in ranking(runs, across):
        found = of[row.variant]
        judged = sum(is_judged(run["capacity"]) for run in found)
        limits = dict.fromkeys(limited(run) for run in found)
        rows.append([row.variant.middleware, rate(row.capacity), rate(row.lowest), rate(row.highest),
                     f"{judged} of {row.of}", f"{row.converged} of {row.of}", "; ".join(filter(None, limits)),
                     in_force(found), found[-1]["acknowledgement"]])
    return table(["", "median, tweets/s", "lowest", "highest", "rounds judged", "converged", "what limited",
                  "durability in force", "an acknowledged event is"], rows, numbers=(1, 2, 3))


def limited(run: Mapping[str, Any]) -> str:
    """What gave way at the lowest rate that failed, with the verdict's reason; "" where none failed."""
    found = measured_at(run, run["capacity"]["lowest_fail"])
    by = run["capacity"]["limited_by"] or ""
    return f"{by}: {found['reason']}" if by and found else by


def in_force(runs: Sequence[Mapping[str, Any]]) -> str:
    """The class that the servers told, or were configured with where they cannot be asked."""
    return ", ".join(dict.fromkeys(run.get("durability_told") or f"{run['durability']} (not told)" for run in runs))


def _at_highest_pass(runs: Sequence[Run]) -> str:
    rows = []
    for run in runs:
        found = measured_at(run, run["capacity"]["highest_pass"])
        if found:
            at = found["latency_ms"]
            used = found["cpu_seconds_per_1000"]
            rows.append([run["middleware"], rate(found["rate"]), *(_percentiles(at[stage]) for stage in STAGES),
                         f"{sum(used.values()):.3f}" if used else "unknown", f"{found['idle_cpu']:.0%}"])
    if not rows:
        return ""
    head = ["", "tweets/s", *STAGES, "CPU s per 1,000", "idle CPU"]
    return "<h3>At the highest pass of the median round: latency in ms, p50 / p99</h3>" + table(
        head, rows, numbers=range(1, len(head)))


def _percentiles(latency: Mapping[str, float | None]) -> str:
    return " / ".join("never" if latency[p] is None else f"{latency[p]:,.0f}" for p in ("p50", "p99"))


def _cpu(runs: Sequence[Run]) -> str:
    """A row for each process, a column for each middleware, at the rate that this one sustained."""
    found = {run["middleware"]: at for run in runs if (at := measured_at(run, run["capacity"]["highest_pass"]))}
    used: dict[str, Mapping[str, float]] = {name: at["cpu_seconds_per_1000"] or {} for name, at in found.items()}
    least = {name: SMALLEST_SHARE * sum(of.values()) for name, of in used.items()}
    processes = {process: max(of.get(process, 0.0) for of in used.values()) for of in used.values() for process in of
                 if any(each.get(process, 0.0) >= least[name] for name, each in used.items())}
    rows = [[process, *(_seconds(of.get(process)) for of in used.values())]
            for process in sorted(processes, key=lambda process: -processes[process])]
    if not rows:
        return ""
    rows.append(["together, with what is not shown", *(_seconds(sum(of.values())) for of in used.values())])
    return table(["", *(f"{name}, {at['rate']:,.0f}/s" for name, at in found.items())], rows,
                 numbers=range(1, len(used) + 1)) + (
        '<p class="note">A tweet costs less at higher rates: compare rows of like rates only.</p>')


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _equal(runs: Sequence[Run]) -> str:
    rows = [[each["name"], each["value"], each["why"]] for each in next(
        (run["compared"]["equal"] for run in runs if run.get("compared")), [])]
    return table(["setting", "for all", "what it is"], rows) if rows else ""


def _settings(runs: Sequence[Run]) -> str:
    rows = [[run["middleware"], each["name"], each["value"], each["why"], _source(each)]
            for run in runs for each in run.get("compared", {}).get("settings", [])]
    return table(["", "setting", "in use", "why", "its documentation"], rows) if rows else ""


def _recommended(runs: Sequence[Run]) -> str:
    rows = [[run["middleware"], each["name"], each["value"], each["recommended"], each["effect"], _source(each)]
            for run in runs for each in run.get("compared", {}).get("alternatives", [])]
    head = ["", "setting", "in use", "recommended or offered", "what would change", "its documentation"]
    return table(head, rows) if rows else ""


def _source(row: Mapping[str, Any]) -> Html:
    """In words, as a page that loads nothing has no links to follow."""
    title, address = row["source"]
    return Html(f"{escape(title)}<br><code>{escape(address)}</code>")
