"""Which stage the others wait for: by what each adds to the lag of the one before it."""

from __future__ import annotations

import pytest

from common.telemetry.history import Point
from common.telemetry.limiting import BEHIND_S, Limiting, has_to_wait, limiting, own_lags
from common.telemetry.stages import StageReading
from common.tweets import STAGES

NOW = 1000.0


def reading(enriched: float | None, ranked: float | None, searchable: float | None) -> list[StageReading]:
    lags = (0.0, enriched, ranked, searchable)
    return [{
        "name": name, "rate_per_s": None, "lag_events": None, "lag_seconds": lag,
        "latency_ms": {"p50": None, "p95": None, "p99": None},
    } for name, lag in zip(STAGES, lags, strict=True)]


def test_what_is_inherited_is_not_its_own() -> None:
    assert own_lags(reading(10.0, 11.0, 9.0)) == {"enriched": 10.0, "ranked": 1.0, "searchable": 0.0}


def test_what_is_unknown_is_not_blamed() -> None:
    assert own_lags(reading(None, 60.0, None)) == {}
    assert limiting(reading(None, 60.0, None), NOW, []) is None


def test_nobody_waits_for_micro_batches() -> None:
    below = BEHIND_S - 0.1
    assert not has_to_wait(reading(below, 2 * below, 2 * below))
    assert limiting(reading(below, 2 * below, 2 * below), NOW, []) is None


def test_without_a_history_it_limits_since_now() -> None:
    assert has_to_wait(reading(1.0, 9.0, 1.0))
    assert limiting(reading(1.0, 9.0, 1.0), NOW, []) == Limiting("ranked", NOW, "steady")


@pytest.mark.parametrize(("before", "trend"), [(3.0, "worse"), (9.3, "steady"), (8.7, "steady"), (15.0, "better")])
def test_the_trend_is_that_of_its_own_lag(before: float, trend: str) -> None:
    """Whatever the stage before it does meanwhile."""
    history = [Point(990, reading(20.0, 20.0 + before, 20.0))]
    found = limiting(reading(1.0, 10.0, 1.0), NOW, history)
    assert found is not None
    assert (found.stage, found.trend) == ("ranked", trend)


def test_it_limits_since_the_first_point_without_a_gap() -> None:
    history = [Point(at, reading(0.0, lag, 0.0)) for at, lag in (
        (970, 9.0), (975, 1.0), (980, 4.0), (985, 4.5), (990, 5.0), (995, 6.0), (1000, 0.0))]
    assert limiting(reading(0.0, 7.0, 0.0), NOW, history) == Limiting("ranked", 980, "worse")


def test_the_first_that_grows_comes_before_one_that_holds_more() -> None:
    history = [Point(995, reading(4.0, 64.0, 4.0))]
    assert limiting(reading(6.0, 66.0, 8.0), NOW, history) == Limiting("enriched", 995, "worse")
    shrinking = [Point(995, reading(8.0, 68.0, 18.0))]
    assert limiting(reading(4.0, 64.0, 8.0), NOW, shrinking) == Limiting("ranked", 995, "steady")
