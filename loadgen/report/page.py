"""A self-contained page about one or several searches for the capacity: no script, nothing to load. Pure but for files.

Takes what results.json holds of each search (`loadgen.comparison` puts several side by side).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from common.tweets import STAGES
from loadgen.observe.samples import JUDGED
from loadgen.report.charts import Line, bar_chart, line_chart
from loadgen.report.tables import Html, rate, table, text

Run = Mapping[str, Any]
"""One search: what `murmur load find-max --json` prints."""

STYLE = Path(__file__).with_name("report.css")
HOST = ("cpu", "cores", "memory_bytes", "kernel")
"""By which two hosts are told apart."""

SHOWN_SHARE = 0.02
"""Processes that use less of the CPU are shown together."""


def write_report(folder: Path, runs: Sequence[Run], note: str = "", first: Mapping[str, str] | None = None,
                 charted: Sequence[Run] | None = None) -> Path:
    """Writes report.html, as `page` makes it."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "report.html"
    target.write_text(page(runs, note, first, charted))
    return target


def page(runs: Sequence[Run], note: str = "", first: Mapping[str, str] | None = None,
         charted: Sequence[Run] | None = None) -> str:
    """`note` stands below the heading, `first` are sections before the others, `charted` the searches that charts
    show: all, unless given."""
    names = labels(runs)
    drawn = runs if charted is None else charted
    drawn_names = [names[next(n for n, run in enumerate(runs) if run is each)] for each in drawn]
    sections = {
        **(first or {}),
        "Capacity": _capacities(runs, names),
        "Latency against throughput": _latency(drawn, drawn_names),
        "Backlog over time": _backlogs(drawn, drawn_names),
        "CPU seconds per 1,000 tweets, by process": _cpu(drawn, drawn_names),
        "The ladder of rates": _ladders(runs, names),
        "Settings that differ": _differences(runs, names) if len(runs) > 1 else "",
        "In force": _in_force(runs, names),
    }
    body = "".join(f"<section><h2>{escape(title)}</h2>{content}</section>" for title, content in sections.items()
                   if content)
    heading = "What the pipeline sustains"
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{heading}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{STYLE.read_text()}</style>'
            f"<h1>{heading}</h1>{f'<p>{escape(note)}</p>' if note else ''}{_commands(runs)}{body}</html>\n")


def labels(runs: Sequence[Run]) -> list[str]:
    """A name for each search: the middleware, what else differs, and the number of the repetition."""
    wanted = ["middleware", *(key for key in ("durability", "workload") if len({_told(run, key) for run in runs}) > 1)]
    names = [" ".join([*(_told(run, key) for key in wanted), *([f"aside ({run['side']})"] if run.get("side") else [])])
             for run in runs]
    numbers = [names[: n + 1].count(name) for n, name in enumerate(names)]
    return [f"{name} #{number}" if names.count(name) > 1 else name for name, number in zip(names, numbers, strict=True)]


def _told(run: Run, key: str) -> str:
    """Results of earlier versions name no workload."""
    return str(run.get(key, "cached"))


def _commands(runs: Sequence[Run]) -> str:
    commands = dict.fromkeys(run["command"] for run in runs)
    return "".join(f"<p><code>{escape(command)}</code></p>" for command in commands)


def _capacities(runs: Sequence[Run], names: Sequence[str]) -> str:
    rows = []
    for run, name in zip(runs, names, strict=True):
        found = run["capacity"]
        state = "converged" if found["converged"] else "not converged"
        rows.append([name, _told(run, "workload"), rate(found["highest_pass"]), rate(found["lowest_fail"]),
                     found["limited_by"] or "",
                     f"{state}, {'confirmed' if found['confirmed'] else 'not confirmed'}", run["acknowledgement"]])
    return table(["", "workload", "highest pass, tweets/s", "lowest fail", "limited by", "",
                   "an acknowledged event is"], rows, numbers=(2, 3))


def _latency(runs: Sequence[Run], names: Sequence[str]) -> str:
    charts = []
    for stage in JUDGED:
        lines = [
            Line(f"{name}, {percentile}", _points(run, stage, percentile), n, percentile == "p50", True)
            for n, (run, name) in enumerate(zip(runs, names, strict=True)) for percentile in ("p99", "p50")
        ]
        objective = next((e["objective_ms"] for run in runs for e in run["experiments"]), None)
        limit = (objective, "objective for p99") if objective else None
        charts.append(f"<div><h3>to {stage}</h3>"
                      + line_chart(lines, "tweets/s", "ms from intended send", True, limit) + "</div>")
    missing = '<p class="note">A rate at which so many tweets had not arrived has no point.</p>'
    return f'<div class="grid2">{"".join(charts)}</div>{missing}'


def _points(run: Run, stage: str, percentile: str) -> list[tuple[float, float | None]]:
    """The last experiment at each rate, by rate."""
    last = {e["rate"]: e["latency_ms"][stage][percentile] for e in run["experiments"] if "latency_ms" in e}
    return sorted(last.items())


def _backlogs(runs: Sequence[Run], names: Sequence[str]) -> str:
    charts = []
    for run, name in zip(runs, names, strict=True):
        for which, at in (("highest pass", run["capacity"]["highest_pass"]),
                          ("lowest fail", run["capacity"]["lowest_fail"])):
            found = measured_at(run, at)
            if found:
                lines = [Line(stage, list(zip(found["backlog"]["at"], found["backlog"][stage], strict=True)), n)
                         for n, stage in enumerate(STAGES)]
                charts.append(f"<div><h3>{escape(name)}, {which}: {at:,.0f}/s</h3>"
                              + line_chart(lines, "seconds of the interval", "tweets waiting") + "</div>")
    return f'<div class="grid2">{"".join(charts)}</div>'


def _cpu(runs: Sequence[Run], names: Sequence[str]) -> str:
    bars = {}
    for run, name in zip(runs, names, strict=True):
        found = measured_at(run, run["capacity"]["highest_pass"])
        if found:
            bars[f"{name} {found['rate']:,.0f}/s"] = largest(found["cpu_seconds_per_1000"] or {})
    return bar_chart(bars, "CPU seconds per 1,000 tweets") if bars else ""


def measured_at(run: Run, rate: float | None) -> Mapping[str, Any] | None:
    """The last experiment at a rate that came to a verdict."""
    return next((e for e in reversed(run["experiments"]) if e["rate"] == rate and "backlog" in e), None)


def largest(used: Mapping[str, float]) -> dict[str, float]:
    """The processes with a share worth showing; the others together."""
    total = sum(used.values())
    shown = {name: value for name, value in used.items() if value >= SHOWN_SHARE * total}
    rest = total - sum(shown.values())
    return {**shown, "others": rest} if rest > 1e-9 else shown


def _ladders(runs: Sequence[Run], names: Sequence[str]) -> str:
    parts = []
    for run, name in zip(runs, names, strict=True):
        rows = [[rate(e["rate"]), e["purpose"], f"{e['seconds']:.0f} s",
                 Html(f'<span class="{escape(e["verdict"])}">{escape(e["verdict"])}</span>'),
                 e.get("limited_by") or "", e["reason"], *(_milliseconds(e, stage) for stage in JUDGED),
                 f"{e['idle_cpu']:.0%}" if "idle_cpu" in e else "", e.get("reference_ms", "")]
                for e in run["experiments"]]
        parts.append(f"<h3>{escape(name)}</h3>" + table(
            ["tweets/s", "", "measured", "verdict", "limited by", "why", "p99 ranked, ms", "p99 searchable, ms",
             "idle CPU", "reference work, ms"], rows, numbers=(0, 2, 6, 7, 8, 9)))
    return "".join(parts)


def _milliseconds(experiment: Mapping[str, Any], stage: str) -> str:
    if "latency_ms" not in experiment:
        return ""
    p99 = experiment["latency_ms"][stage]["p99"]
    return "never" if p99 is None else f"{p99:,.0f}"


def differences(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Settings, the servers' own included, versions, code and host that are not the same in all searches; "" where
    there is no such one."""
    flat = [{**run["settings"], **run["server_settings"], "commit": run.get("commit") or "",
             **{f"host: {key}": value for key, value in run["host"].items() if key in HOST},
             **{f"version of {name}": version for name, version in run["versions"].items()}} for run in runs]
    keys = sorted({key for settings in flat for key in settings})
    values = {key: [str(settings.get(key, "")) for settings in flat] for key in keys}
    return {key: found for key, found in values.items() if len(set(found)) > 1}


def _differences(runs: Sequence[Run], names: Sequence[str]) -> str:
    rows = [[key, *values] for key, values in differences(runs).items()]
    return f'<div class="wide">{table(["", *names], rows)}</div>' if rows else '<p class="note">none</p>'


def _in_force(runs: Sequence[Run], names: Sequence[str]) -> str:
    first = runs[0]
    parts = [table(["host", ""], [[key, text(value)] for key, value in first["host"].items()])]
    for run, name in zip(runs, names, strict=True):
        rows = [[f"version of {key}", value] for key, value in run["versions"].items()]
        rows += [[key, text(value)] for key, value in run["settings"].items()]
        rows += [[key, value] for key, value in run["server_settings"].items()]
        measured = [e for e in run["experiments"] if "tweets" in e]
        if measured:
            rows.insert(0, ["bytes per tweet, rows in the index",
                            f"{measured[-1]['bytes_per_tweet']}, {measured[-1]['index_rows']}"])
        parts.append(f"<details><summary>{escape(name)}</summary>{table(['setting', 'value'], rows)}</details>")
    return "".join(parts)
