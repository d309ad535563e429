"""Whether a rate was sustained, by the five conditions of docs/benchmark-method.md, each with its figure. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from common.tweets import STAGES
from loadgen.judge.slope import Slope, slope
from loadgen.observe.samples import JUDGED, PUBLISHED, Audited, Evidence, Sample, Unjudged

Judgement = Literal["pass", "fail", "generator-limited", "host-saturated", "broken"]
"""`broken`: something that was asked could not be judged, and nothing else failed."""

Condition = Literal["offered", "backlog", "latency", "audit", "drain"]
Trend = Literal["steady", "growing", "undecided"]

ON_SCHEDULE_SHARE = 0.99
GROWTH_SHARE = 0.01
"""Of the rate: a backlog that surely grows by less is steady, one that surely grows by as much is growing."""

LEAST_SECONDS, LEAST_SAMPLES = 60.0, 120
IDLE_SHARE = 0.05
"""With less of the host's CPU idle, a generator that is late may simply not have been let run."""

DRAIN_SECONDS = 20.0

HOPELESS_SHARE = 0.2
"""Of the tweets of an interval: with so many late, no p99 can hold. A hundredth would do; a stage that is at work on
a backlog shows better what it can do."""


@dataclass(frozen=True)
class Finding:
    """One condition. `holds` is None where it was not judged; `stage` is the one at fault.

    `asked` is False where it is none of the experiment's conditions: growth, of a burst; the audit, by Locust alone.
    """

    holds: bool | None
    figure: str
    stage: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    asked: bool = True


@dataclass(frozen=True)
class Verdict:
    """`limited_by` is a stage, "generator" or "host"; None for a pass, and for what is broken.

    `condition` is the one that failed, or could not be judged; None for a pass.
    """

    judgement: Judgement
    limited_by: str | None
    condition: Condition | None
    findings: Mapping[Condition, Finding]

    @property
    def reason(self) -> str:
        """In a few words, for people."""
        return "" if self.condition is None else f"{self.condition}: {self.findings[self.condition].figure}"


def judge(evidence: Evidence) -> Verdict:
    """The verdict; among several causes it names the one that explains the others.

    A backlog that grows at a stage explains late and missing tweets. A late generator explains late tweets, since
    latency counts from the schedule, but neither a growing backlog behind *published* nor a loss. What failed for sure
    failed, whatever else could not be judged; without it that is broken, and never a pass.
    """
    rules: dict[Condition, Callable[[Evidence], Finding]] = {
        "offered": _offered, "backlog": _backlog, "latency": _latency, "audit": _audit, "drain": _drain,
    }
    findings = {name: rule(evidence) for name, rule in rules.items()}
    failed = [name for name in rules if findings[name].holds is False]
    if not failed:
        unjudged = next((name for name in rules if findings[name].holds is None and findings[name].asked), None)
        return Verdict("broken" if unjudged else "pass", None, unjudged, findings)
    growing = findings["backlog"].stage if "backlog" in failed else None
    if growing not in (None, PUBLISHED):
        return Verdict("fail", growing, "backlog", findings)
    if "offered" in failed:
        by = findings["offered"].stage
        if by == "host":
            return Verdict("host-saturated", by, "offered", findings)
        if by == PUBLISHED:
            return Verdict("fail", by, "offered", findings)
        if "audit" not in failed:
            return Verdict("generator-limited", by, "offered", findings)
    order: tuple[Condition, ...] = ("backlog", "latency", "drain", "audit")
    first = next(name for name in order if name in failed)
    return Verdict("fail", findings[first].stage, first, findings)


def trend(samples: tuple[Sample, ...], stage: str, rate: float) -> tuple[Trend, Slope]:
    """Whether the backlog of a stage grows by GROWTH_SHARE of the rate, by the 95 % confidence interval."""
    found = slope([s.at for s in samples], [s.backlog[stage] for s in samples])
    if found.high < GROWTH_SHARE * rate:
        return "steady", found
    return ("growing" if found.low >= GROWTH_SHARE * rate else "undecided"), found


def must_extend(samples: tuple[Sample, ...], rate: float) -> bool:
    """Whether an interval of the shortest length leaves a stage undecided, and none grows for sure."""
    trends = {trend(samples, stage, rate)[0] for stage in STAGES} if is_long_enough(samples) else set()
    return "undecided" in trends and "growing" not in trends


def is_hopeless(sample: Sample, rate: float, seconds: float, objective_ms: float) -> bool:
    """Whether HOPELESS_SHARE of the tweets of an interval of `seconds` are late already, wherever they are.

    The newest are those that wait: of what waits at a stage, or has not come there, all but that of the last
    `objective_ms` is late, as far as it was scheduled within the interval.
    """
    objective_s = objective_ms / 1000
    waiting = sample.backlog[PUBLISHED] + max(sample.backlog[stage] for stage in JUDGED)
    late = min(waiting - rate * objective_s, rate * (sample.at - objective_s))
    return late > HOPELESS_SHARE * rate * seconds


def is_long_enough(samples: tuple[Sample, ...]) -> bool:
    """Each sample stands for the time around it: n of them span n gaps."""
    if len(samples) < LEAST_SAMPLES:
        return False
    gap = (samples[-1].at - samples[0].at) / (len(samples) - 1)
    return gap * len(samples) >= LEAST_SECONDS


def _offered(evidence: Evidence) -> Finding:
    offered = evidence.offered
    share = offered.on_schedule / offered.scheduled if offered.scheduled else 0.0
    detail = {
        "scheduled": offered.scheduled, "on_schedule": offered.on_schedule, "blocked": offered.blocked,
        "late": offered.late, "idle_cpu": round(evidence.idle_cpu, 4),
    }
    figure = f"{share:.2%} of the tweets on schedule"
    if share >= ON_SCHEDULE_SHARE:
        return Finding(True, figure, detail=detail)
    if offered.blocked >= offered.late:
        return Finding(False, f"{figure}, the others met back-pressure in send", PUBLISHED, detail)
    if evidence.idle_cpu < IDLE_SHARE:
        return Finding(False, f"{figure}, with {evidence.idle_cpu:.1%} of the CPU idle", "host", detail)
    return Finding(False, f"{figure}, without back-pressure and {evidence.idle_cpu:.0%} of the CPU idle", "generator",
                   detail)


def _backlog(evidence: Evidence) -> Finding:
    """The first stage of the pipeline whose backlog grows: those behind it inherit its growth."""
    samples, rate = evidence.samples, evidence.rate
    asked = not (evidence.is_burst or evidence.gave_up)
    why = (f"not judged: {len(samples)} samples, {LEAST_SAMPLES} over {LEAST_SECONDS:.0f} s are needed" if asked
           else "not asked of a burst" if evidence.is_burst else "not asked of an interval that ended early")
    if len(samples) < 3:
        return Finding(None, why, asked=asked)
    found = {stage: trend(samples, stage, rate) for stage in STAGES}
    detail = {
        stage: {"trend": kind, "slope": _rounded(by.value), "low": _rounded(by.low), "high": _rounded(by.high)}
        for stage, (kind, by) in found.items()
    }
    worst = next((s for s in STAGES if found[s][0] == "growing"), None)
    worst = worst or next((s for s in STAGES if found[s][0] == "undecided"), None)
    shown = worst or max(STAGES, key=lambda stage: found[stage][1].value)
    kind, by = found[shown]
    figure = f"{shown} grows by {by.value / rate:+.2%} of the rate ({by.low / rate:+.2%} to {by.high / rate:+.2%})"
    if not is_long_enough(samples):
        return Finding(None, f"{why}; {figure}", detail=detail, asked=asked)
    if worst is None:
        return Finding(True, figure, detail=detail)
    return Finding(False, figure if kind == "growing" else f"undecided: {figure}", worst, detail)


def _latency(evidence: Evidence) -> Finding:
    detail = {stage: vars(latency) for stage, latency in evidence.latency.items()}
    p99 = {stage: evidence.latency[stage].p99 for stage in STAGES}
    figure = ", ".join(f"p99 to {stage} {_milliseconds(p99[stage])}" for stage in JUDGED)
    late = [s for s in JUDGED if (found := p99[s]) is None or found > evidence.objective_ms]
    if not (late or evidence.gave_up):
        return Finding(True, figure, detail=detail)
    late = late or list(JUDGED)
    return Finding(False, f"{figure}, the objective is {evidence.objective_ms:,.0f} ms", _slowest(p99, late[0]), detail)


def _slowest(p99: Mapping[str, float | None], stage: str) -> str:
    """The stage that adds most to the latency at `stage`, on the way there."""
    way = [PUBLISHED, STAGES[1], stage]
    added, before = {}, 0.0
    for each in way:
        reached = p99[each]
        if reached is None:
            return each
        added[each], before = reached - before, reached
    return max(added, key=lambda each: added[each])


def _audit(evidence: Evidence) -> Finding:
    if evidence.audit is None:
        return Finding(None, "not audited", asked=False)
    if isinstance(evidence.audit, Unjudged):
        return Finding(None, f"not audited: {evidence.audit.reason}")
    wrong = {stage: found for stage, found in evidence.audit.items() if found.missing or found.duplicated}
    detail = {stage: vars(found) for stage, found in evidence.audit.items()}
    if not wrong:
        return Finding(True, f"nothing missing, nothing twice{_besides(evidence.audit)}", detail=detail)
    figure = ", ".join(f"{stage}: {f.missing} missing, {f.duplicated} twice" for stage, f in wrong.items())
    return Finding(False, figure, _stage_of(next(iter(wrong))), detail)


def _besides(audit: Mapping[str, Audited]) -> str:
    """What is no fault, but should be known."""
    said = [f"{stage}: {count:,} {what}" for stage, found in audit.items() for what, count in (
        ("aged out", found.aged_out), ("repeated when Spark died", found.repeated),
        ("lost to retention", found.lost_to_retention), ("parked", found.parked),
        ("range(s) of buckets given up", len(found.lost_buckets))) if count]
    return f" ({'; '.join(said)})" if said else ""


def _stage_of(audited: str) -> str:
    """The audit tells two halves of *searchable* apart."""
    return audited if audited in STAGES else "searchable"


def _drain(evidence: Evidence) -> Finding:
    left = [stage for stage in STAGES if evidence.drained_s.get(stage, None) is None]
    if left:
        figure = f"{left[0]} has a backlog {DRAIN_SECONDS:.0f} s after the end"
        return Finding(False, figure, left[0], dict(evidence.drained_s))
    slowest = max(STAGES, key=lambda stage: evidence.drained_s[stage] or 0.0)
    return Finding(True, f"gone {evidence.drained_s[slowest]:.1f} s after the end", detail=dict(evidence.drained_s))


def _milliseconds(value: float | None) -> str:
    return "never" if value is None else f"{value:,.0f} ms"


def _rounded(value: float) -> float | None:
    """None for an interval without a bound: JSON has no infinity."""
    return round(value, 3) if abs(value) != float("inf") else None
