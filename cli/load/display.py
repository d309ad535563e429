"""What a user sees of experiments: their progress in one line, the ladder of rates, and the results as text."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import click

from common.tweets import STAGES
from loadgen.judge.rate_search import Step
from loadgen.observe.host_speed import is_quiet
from loadgen.observe.process_cpu import CpuSeconds
from loadgen.observe.samples import Sample
from loadgen.report.result import Result

SHOW_SECONDS = 0.5
PURPOSES = {"ramp": "ramp", "bisect": "bisect", "second-look": "again", "confirm": "confirm"}
COLOURS = {"pass": "green", "fail": "red", "host-saturated": "red", "generator-limited": "yellow", "broken": "magenta"}


class Display:
    """Writes to standard error, so that the output stays the result; a `loadgen.capacity.Watcher`."""

    def __init__(self, quiet: bool) -> None:
        self._terminal = sys.stderr.isatty() and not quiet
        self._quiet = quiet
        self._title, self._phase, self._shown = "", "", 0.0

    def began(self, step: Step, seconds: float) -> None:
        self._title = f"{step.rate:>10,.0f}/s  {PURPOSES[step.purpose]:<8}"

    def sampled(self, phase: str, sample: Sample | None) -> None:
        """On a terminal a line that is written over; elsewhere one line for each phase."""
        if self._quiet:
            return
        if not self._terminal:
            if phase != self._phase:
                click.echo(f"{self._title}{phase}", err=True)
            self._phase = phase
            return
        if sample and time.monotonic() - self._shown < SHOW_SECONDS:
            return
        self._shown = time.monotonic()
        line = f"{self._title}{phase:<12}"
        if sample:
            waiting = "  ".join(f"{stage} {sample.backlog[stage]:,}" for stage in STAGES)
            line += f"{sample.at:>7.1f} s   waiting: {waiting}"
        click.echo(f"\r\033[K{line}", err=True, nl=False)

    def ended(self, step: Step, result: Result | None, why: str) -> None:
        """One rung of the ladder."""
        self.close()
        if self._quiet:
            return
        verdict = result.verdict.judgement if result else "broken"
        by = f" by {result.verdict.limited_by}" if result and result.verdict.limited_by else ""
        click.echo(f"{self._title}{click.style(verdict + by, fg=COLOURS[verdict])}  {why}", err=True)

    def close(self) -> None:
        """Leaves the line that is written over."""
        if self._terminal:
            click.echo("\r\033[K", err=True, nl=False)
        self._phase = ""


def as_text(result: Result) -> str:
    """One experiment."""
    spec, verdict = result.spec, result.verdict
    by = f", limited by {verdict.limited_by}" if verdict.limited_by else ""
    lines = [f"{spec.rate:,.0f} tweets/s ({spec.workload}, {spec.payload}) for {result.seconds:.0f} s: "
             f"{click.style(verdict.judgement, fg=COLOURS[verdict.judgement], bold=True)}{by}", ""]
    for name, finding in verdict.findings.items():
        mark = {True: "ok", False: "FAILS", None: "?" if finding.asked else "-"}[finding.holds]
        lines.append(f"  {name:<10}{mark:<7}{finding.figure}")
    lines += ["", "  latency, ms      p50       p95       p99     longest   arrived"]
    for stage in STAGES:
        at = result.evidence.latency[stage]
        figures = "".join("     never" if v is None else f"{v:>10,.0f}" for v in (at.p50, at.p95, at.p99, at.longest))
        lines.append(f"  {stage:<10}{figures}{at.arrived:>12,} of {at.expected:,}")
    lines += ["", "  CPU seconds per 1,000 tweets", *cpu_as_text(result.cpu_seconds_per_1000)]
    lines += ["", f"  idle CPU {result.evidence.idle_cpu:.0%}; "
              f"{result.bytes_per_tweet or 0:,.0f} bytes per tweet; {result.index_rows or 0:,} rows in the index; "
              f"reference work {result.reference_ms:,.1f} ms"]
    if ahead := result.made_ahead:
        lines.append(f"  {ahead['tweets']:,.0f} tweets were made ahead, in {ahead['seconds']:,.1f} s; "
                     f"{ahead['bytes'] / 1e6:,.0f} MB on disk")
    completed = ", ".join(f"{s} {'never' if at is None else f'{at:,.1f} s'}" for s, at in result.completed_s.items())
    lines.append(f"  all {completed} after the first tweet; most waiting: "
                 + ", ".join(f"{stage} {count:,}" for stage, count in result.peak_backlog.items()))
    if result.restarted:
        lines.append(f"  restarted meanwhile: {', '.join(result.restarted)}")
    if result.others:
        lines.append(f"  {result.others:,} tweets of others came meanwhile")
    for kind, stats in result.users.items():
        lines.append(f"  users, {kind}: {stats['requests']:,} requests, {stats['failures']:,} failed, "
                     f"p99 {stats['latency_ms']['p99'] or 0:,.0f} ms")
    return "\n".join(lines)


def cpu_as_text(used: CpuSeconds | None) -> list[str]:
    if used is None:
        return ["  unknown: each process is in a container of its own, where nobody else sees it"]
    lines = [f"  {name:<28}{seconds:>8.3f}" for name, seconds in used.items() if seconds >= 5e-4]
    return [*lines, f"  {'together':<28}{sum(used.values()):>8.3f}"]


def capacity_as_text(capacity: Mapping[str, Any]) -> str:
    """A `loadgen.judge.rate_search.Capacity`, as it is in results.json."""
    high, low, by = capacity["highest_pass"], capacity["lowest_fail"], capacity["limited_by"]
    limit = f", limited by {by}" if by else ""
    if high is None:
        return f"nothing passed; the lowest rate that failed is {low:,.0f} tweets/s{limit}" if low else "nothing passed"
    end = f"{low:,.0f}" if low else "unknown"
    how = "converged" if capacity["converged"] else "not converged"
    confirmed = "confirmed" if capacity["confirmed"] else "not confirmed"
    return f"capacity: [{high:,.0f}, {end}) tweets/s, {how}, highest pass {confirmed}{limit}"


def unquiet_as_text(experiments: Sequence[Mapping[str, Any]]) -> str:
    """A line that says so if the machine was not equally fast before all experiments; "" if it was."""
    took = [experiment["reference_ms"] for experiment in experiments if "reference_ms" in experiment]
    if is_quiet(took):
        return ""
    return (f"the machine was not quiet: the reference work took {min(took):,.1f} to {max(took):,.1f} ms; "
            "another search may find another capacity\n")
