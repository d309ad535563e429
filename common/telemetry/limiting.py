"""Which stage the others wait for. Every lag is measured behind *published*, so that a stage inherits that of the stage
before it; it is to blame for what it adds. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from common.telemetry.history import EVERY_S, Point
from common.telemetry.stages import StageReading
from common.tweets import StageName

Trend = Literal["better", "worse", "steady"]

BEHIND_S = 4.0
"""A stage waits if it adds so much: more than micro-batches and reports take on a slow machine."""

TREND_S = 10
"""So far back it is compared."""

STEADY_S_PER_S = 0.05
"""A lag that grows or shrinks by less in a second is steady: micro-batches make it swing."""

GAP_S = 3 * EVERY_S
"""Between two points: what was in a longer one nobody knows."""

BEFORE: Mapping[StageName, StageName] = {"enriched": "published", "ranked": "enriched", "searchable": "enriched"}
"""Whose output each stage takes."""


class Limiting(NamedTuple):
    """`since` in seconds since the epoch, not before the history begins; `trend` is that of its own lag."""

    stage: StageName
    since: float
    trend: Trend


def own_lags(stages: Sequence[StageReading]) -> dict[StageName, float]:
    """By stage, the seconds that it adds to the lag of the one before it; without those of which it is not known."""
    lags = {stage["name"]: stage["lag_seconds"] for stage in stages}
    own = {}
    for name, before in BEFORE.items():
        lag, inherited = lags.get(name), lags.get(before)
        if lag is not None and inherited is not None:
            own[name] = max(0.0, lag - inherited)
    return own


def has_to_wait(stages: Sequence[StageReading]) -> bool:
    """Whether any stage limits; without a look at the history."""
    return any(own >= BEHIND_S for own in own_lags(stages).values())


def limiting(stages: Sequence[StageReading], now: float, history: Sequence[Point]) -> Limiting | None:
    """The first stage of those that wait whose own lag grows, or else the one with the largest; None if none waits."""
    own = own_lags(stages)
    past = [(point.at, own_lags(point.stages)) for point in history if point.at < now]
    trends = {name: _trend(name, own[name], now, past) for name in own if own[name] >= BEHIND_S}
    if not trends:
        return None
    growing = [name for name, trend in trends.items() if trend == "worse"]
    stage = growing[0] if growing else max(trends, key=lambda name: own[name])
    return Limiting(stage, _since(stage, now, past), trends[stage])


Past = Sequence[tuple[float, Mapping[StageName, float]]]


def _trend(stage: StageName, own: float, now: float, past: Past) -> Trend:
    """By the oldest point of the last TREND_S that is old enough to tell; steady without any."""
    for at, lags in past:
        if now - TREND_S <= at <= now - EVERY_S and stage in lags:
            slope = (own - lags[stage]) / (now - at)
            return "steady" if abs(slope) < STEADY_S_PER_S else "worse" if slope > 0 else "better"
    return "steady"


def _since(stage: StageName, now: float, past: Past) -> float:
    """The first of the points up to now, without a gap, at which the stage waited."""
    since = now
    for at, lags in reversed(past):
        if lags.get(stage, 0.0) < BEHIND_S or since - at > GAP_S:
            break
        since = at
    return since
