"""One experiment as it is written to results.json and shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from common.tweets import STAGES
from ingest.sources.content import Size, Workload
from loadgen.judge.verdict import Verdict
from loadgen.observe.process_cpu import CpuSeconds
from loadgen.observe.samples import Evidence, Latency, Sample


@dataclass(frozen=True)
class Spec:
    """One experiment: `rate` in tweets/s for `seconds`, after `settle_s` at the same rate that are not judged.

    Below 60 s it is a burst: no growth of a backlog can be told, and publishing may take as long as it takes. One that
    `gives_up` ends as soon as it has failed beyond doubt, and leaves less to catch up on.
    """

    rate: float
    seconds: float = 60.0
    settle_s: float = 20.0
    objective_ms: float = 2000.0
    payload: Size = "lean"
    workload: Workload = "realistic"
    seed: int = 1
    users: int = 0
    processes: int | None = None
    gives_up: bool = False


@dataclass
class Result:
    """`samples` from the first tweet to the end of the drain; those at 0 ≤ `at` ≤ `seconds` were judged.

    `completed_s`: by stage, when its backlog had gone, in seconds after the first tweet; None if that was not seen.
    `made_ahead`: tweets that the generators had before the schedule, the seconds that it took them and bytes on disk.
    `others` are tweets that somebody else published meanwhile. `reference_ms` is how long a fixed piece of work took
    just before: how fast the machine was. What the processes used, and which were restarted, is None where each is in a
    container of its own and nobody sees them.
    """

    spec: Spec
    started_at: str
    seconds: float
    verdict: Verdict
    evidence: Evidence
    samples: Sequence[Sample]
    completed_s: Mapping[str, float | None]
    cpu_seconds_per_1000: CpuSeconds | None
    tweets: int
    bytes_per_tweet: float | None
    index_rows: int | None
    reference_ms: float
    others: int = 0
    made_ahead: Mapping[str, float] = field(default_factory=dict)
    restarted: Sequence[str] | None = ()
    users: Mapping[str, Any] = field(default_factory=dict)

    @property
    def peak_backlog(self) -> dict[str, int]:
        return {stage: max((s.backlog[stage] for s in self.samples), default=0) for stage in STAGES}

    def as_json(self) -> dict[str, Any]:
        """As `murmur load run --json` prints it, the series of backlogs included."""
        verdict, evidence = self.verdict, self.evidence
        return {
            **asdict(self.spec),
            "started_at": self.started_at,
            "seconds": self.seconds,
            "verdict": verdict.judgement,
            "limited_by": verdict.limited_by,
            "condition": verdict.condition,
            "reason": verdict.reason,
            "conditions": {name: asdict(finding) for name, finding in verdict.findings.items()},
            "latency_ms": {stage: _latency(latency) for stage, latency in evidence.latency.items()},
            "cpu_seconds_per_1000": self.cpu_seconds_per_1000,
            "idle_cpu": round(evidence.idle_cpu, 4),
            "reference_ms": self.reference_ms,
            "tweets": self.tweets,
            "other_tweets": self.others,
            "restarted": None if self.restarted is None else list(self.restarted),
            "made_ahead": dict(self.made_ahead),
            "bytes_per_tweet": self.bytes_per_tweet,
            "index_rows": self.index_rows,
            "completed_s": dict(self.completed_s),
            "drained_s": dict(evidence.drained_s),
            "peak_backlog": self.peak_backlog,
            "audit": {stage: asdict(found) for stage, found in evidence.audit.items()}
                     if isinstance(evidence.audit, Mapping) else {},
            "locust": dict(self.users),
            "backlog": {
                "at": [round(sample.at, 2) for sample in self.samples],
                **{stage: [sample.backlog[stage] for sample in self.samples] for stage in STAGES},
            },
        }


def _latency(latency: Latency) -> dict[str, Any]:
    """Percentiles in ms; null where so many tweets had not arrived."""
    return asdict(latency)
