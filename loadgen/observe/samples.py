"""What an experiment collects: how it is collected and how it is judged (verdict.py) are different things. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from common.tweets import STAGES

PUBLISHED = STAGES[0]
JUDGED = ("ranked", "searchable")
"""The stages at which a tweet is of use to somebody: the objective holds for these."""


@dataclass(frozen=True)
class Sample:
    """Counters at one moment, `at` seconds after the measured interval began; cumulative within the experiment."""

    at: float
    backlog: Mapping[str, int]
    """By stage: *published* is scheduled minus acknowledged, the others published minus completed."""


@dataclass(frozen=True)
class Offered:
    """The tweets scheduled within the interval, by what became of their schedule.

    `blocked` are those that were late because the publisher was held in `send`, `late` those that the generator itself
    brought too late.
    """

    scheduled: int
    on_schedule: int
    blocked: int
    late: int


@dataclass(frozen=True)
class Latency:
    """At one stage, of the tweets *scheduled* in the interval; ms. None: so many had not arrived, infinitely late."""

    expected: int
    arrived: int
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    p999: float | None = None
    longest: float | None = None


@dataclass(frozen=True)
class Audited:
    """What the audit found at one stage. `repeated` are repeats that are legitimate there.

    `lost_buckets` are ranges (first, last) of buckets whose counts were given up as too low, by nobody knows how much.
    """

    expected: int
    missing: int
    duplicated: int
    aged_out: int = 0
    repeated: int = 0
    lost_to_retention: int = 0
    parked: int = 0
    lost_buckets: Sequence[Sequence[int]] = ()

    @classmethod
    def of(cls, stage: Mapping[str, Any]) -> Self:
        """Of a stage in the JSON of an audit."""
        return cls(**{each.name: stage[each.name] for each in fields(cls) if each.name in stage})


@dataclass(frozen=True)
class Unjudged:
    """Why something that was asked could not be told."""

    reason: str


@dataclass(frozen=True)
class Evidence:
    """Everything that the verdict judges. `rate` in tweets/s, `objective_ms` for the p99 of JUDGED.

    `idle_cpu` is the share of the host's CPU time that was idle during the interval; `drained_s` is when, after the
    end, the backlog of a stage had gone, None if it had not by the time at which it must. Of a burst it is not asked
    whether a backlog grows.
    """

    rate: float
    objective_ms: float
    offered: Offered
    idle_cpu: float
    samples: tuple[Sample, ...]
    latency: Mapping[str, Latency]
    drained_s: Mapping[str, float | None] = field(default_factory=dict)
    audit: Mapping[str, Audited] | Unjudged | None = None
    """None: nothing was to be audited."""

    is_burst: bool = False
    gave_up: bool = False
    """The interval ended early: too many of its tweets were late already."""
