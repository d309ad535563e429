"""When all have caught up: by what the stages tell of themselves."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import pytest
from redis import Redis

from chaos import recovery
from chaos.recovery import CaughtUp, Telemetry, has_caught_up, is_quiet, usual_lag
from common.settings import Settings
from common.telemetry.latency import new_histogram
from common.telemetry.reports import WRITE_SECONDS, StageTelemetry
from common.telemetry.stages import Stage
from common.tweets import STAGES

NOW = 1_800_000_000.0
US = 1_000_000


def stage(sent: float, latency_ms: int = 0, rate: float | None = 100.0, spans: list[list[int]] | None = None,
          ended: bool = False, problem: str = "") -> Stage:
    """One that has completed what was sent until `sent` seconds before NOW."""
    histogram = new_histogram()
    if latency_ms:
        histogram.record_value(latency_ms)
    return Stage(total=1, extra=Counter(), sent_high_us=round((NOW - sent) * US), source=None, problem=problem,
                 starts_us=[], passed_on={}, spans=spans or [], rate=rate, ended=ended, latencies=histogram)


def stages(rate: float | None = 100.0, published: float = 0.1, ended: bool = False, problem: str = "",
           **behind: float) -> dict[str, Stage]:
    """Tweets were sent all the time until `published` seconds before NOW; each stage is `behind` by so many."""
    spans = [[round((NOW - 60) * US), round((NOW - published) * US), 6000]]
    found = {"published": stage(published, 50, rate, spans, ended, problem)}
    return found | {name: stage(behind.get(name, 1.0), 1500) for name in STAGES[1:]}


def test_what_is_usual_is_the_p95_of_the_latency_and_the_age_of_a_report() -> None:
    limits = usual_lag(stages(), NOW)
    assert limits is not None
    assert limits["published"] == pytest.approx(0.05 + WRITE_SECONDS, rel=0.05)
    assert limits["searchable"] == pytest.approx(1.5 + WRITE_SECONDS, rel=0.05)


@pytest.mark.parametrize("rate", [0.0, None])
def test_nothing_is_usual_where_nothing_flows(rate: float | None) -> None:
    assert usual_lag(stages(rate=rate), NOW) is None
    assert usual_lag({}, NOW) is None


def test_nothing_is_usual_before_tweets_have_come_through_every_stage() -> None:
    assert usual_lag(stages() | {"searchable": stage(1.0)}, NOW) is None


LIMITS = {"published": 1.0, "enriched": 2.0, "ranked": 2.0, "searchable": 2.0}


def test_all_have_caught_up_when_each_is_within_its_limit() -> None:
    assert has_caught_up(stages(), LIMITS, since=NOW - 5, now=NOW)
    assert not has_caught_up(stages(searchable=8.0), LIMITS, since=NOW - 5, now=NOW)


def test_nobody_has_while_nothing_comes_that_was_sent_since() -> None:
    """The stream store was away: whoever publishes is held up, and so nothing lags."""
    held = stages(published=6.0, enriched=6.0, ranked=6.0, searchable=6.0)
    assert not has_caught_up(held, LIMITS, since=NOW - 5, now=NOW)
    assert has_caught_up(held, LIMITS, since=NOW - 7, now=NOW)


def test_what_is_unknown_has_not_caught_up() -> None:
    known = stages()
    assert not has_caught_up({}, LIMITS, since=NOW - 5, now=NOW)
    assert not has_caught_up({"published": known["published"]}, LIMITS, since=NOW - 5, now=NOW)


PASSED = {"published": 6.0, "enriched": 6.0, "ranked": 6.0, "searchable": 6.0}


def test_it_is_quiet_when_all_runs_have_ended_and_nothing_is_on_its_way() -> None:
    assert is_quiet(stages(0.0, ended=True, **PASSED), NOW)
    assert not is_quiet(stages(0.0, ended=True, published=1.0, searchable=6.0), NOW)
    assert not is_quiet(stages(), NOW)


def test_a_source_that_is_held_up_makes_nothing_quiet() -> None:
    assert not is_quiet(stages(0.0, **PASSED), NOW)
    assert not is_quiet(stages(0.0, ended=True, problem="the host is not reached", **PASSED), NOW)


def test_what_is_unknown_is_not_quiet() -> None:
    quiet = stages(0.0, ended=True, **PASSED)
    assert not is_quiet({}, NOW)
    assert not is_quiet(stages(None, ended=True, **PASSED), NOW)
    for name in STAGES:
        assert not is_quiet({other: one for other, one in quiet.items() if other != name}, NOW)


@pytest.fixture
def settings(redis_server: str, redis: Redis) -> Settings:
    return Settings(redis_url=redis_server, instance="hurt")


@pytest.fixture
def told(settings: Settings) -> Iterator[list[StageTelemetry]]:
    """What tells of each stage, in their order."""
    found = [StageTelemetry(settings.redis_address, settings.redis_prefix, name, "0") for name in STAGES]
    yield found
    for one in found:
        one.close()


def test_tweets_that_were_sent_since_and_have_passed_all_stages(settings: Settings, told: list[StageTelemetry]) -> None:
    since = time.time()
    for one in told:
        one.record([round((since + 0.1) * US)])
    caught_up = Telemetry(settings).await_caught_up(LIMITS, since)
    assert caught_up.flows
    assert caught_up.at
    assert since <= caught_up.at < since + 30


def test_what_is_usual_is_asked_for_until_it_is_told(settings: Settings, told: list[StageTelemetry]) -> None:
    """Of the rate the last two seconds are not known yet."""
    assert Telemetry(settings).usual() is None
    now = time.time()
    for one in told:
        one.record([round(now * US)])
    assert Telemetry(settings).await_usual()


def test_where_none_come_any_more_nobody_waits(
    settings: Settings, told: list[StageTelemetry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "QUIET_S", 1.0)
    since = time.time()
    for one in told:
        one.record([round((since - 1) * US)])
        one.close()
    assert Telemetry(settings).await_caught_up(LIMITS, since) == CaughtUp(None, flows=False)


def test_a_source_that_has_fallen_silent_is_waited_for(
    settings: Settings, told: list[StageTelemetry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "QUIET_S", 0.5)
    monkeypatch.setattr(recovery, "PATIENCE_S", 3.0)
    for one in told:
        one.save()
    assert Telemetry(settings).await_caught_up(LIMITS, time.time()) == CaughtUp(None, flows=True)


def test_a_redis_that_does_not_answer_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "PATIENCE_S", 0.5)
    monkeypatch.setattr(recovery, "USUAL_S", 0.5)
    away = Settings(redis_url="redis://127.0.0.1:1/0", instance="hurt")
    assert Telemetry(away).await_usual() is None
    assert Telemetry(away).await_caught_up(LIMITS, time.time()) == CaughtUp(None, flows=True)
