from __future__ import annotations

import time
from collections import Counter

import pytest
from redis import Redis

import loadgen.counters
from common.latency import new_histogram
from common.settings import Settings
from common.telemetry import StageTelemetry
from common.tweets import STAGES
from loadgen.counters import Counters, backlogs, summary
from loadgen.evidence import Latency
from loadgen.failures import Busy
from tests.web.conftest import redis, redis_server  # noqa: F401


def since(published: int, enriched: int, ranked: int, searchable: int, **extra: int) -> dict[str, Counter[str]]:
    return {"published": Counter(total=published), "enriched": Counter({"total": enriched, **extra}),
            "ranked": Counter(total=ranked), "searchable": Counter(total=searchable)}


CASES = {
    "each stage waits for its own": (since(100, 90, 70, 80), (10, 30, 20)),
    "rejected and late tweets are not waited for": (since(100, 100, 85, 90, rejected=10, late=5), (0, 0, 0)),
    "what a later stage completed, the earlier ones did": (since(100, 60, 70, 100), (0, 30, 0)),
    "repeats make no negative backlog": (since(100, 105, 103, 101), (0, 0, 0)),
}


@pytest.mark.parametrize(("counts", "expected"), CASES.values(), ids=CASES)
def test_backlogs(counts: dict[str, Counter[str]], expected: tuple[int, int, int]) -> None:
    assert tuple(backlogs(counts).values()) == expected


def test_what_has_not_arrived_is_late_without_bound() -> None:
    histogram = new_histogram()
    histogram.record_value(100, 94)
    histogram.record_value(200, 2)
    assert summary(histogram, 100) == Latency(100, 96, p50=100, p95=200, p99=None, p999=None, longest=None)
    assert summary(histogram, 96).p99 == pytest.approx(200, abs=1)
    assert summary(histogram, 96).longest == pytest.approx(200, abs=1)


def test_nothing_arrived() -> None:
    assert summary(new_histogram(), 10) == Latency(10, 0)


@pytest.mark.server
def test_counts_begin_when_nothing_is_on_its_way(
    redis_server: str, redis: Redis, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:
    """Otherwise what was published before would be taken for the experiment's own."""
    monkeypatch.setattr(loadgen.counters, "IDLE_SECONDS", 0.1)
    settings = Settings(redis_url=redis_server, instance="counted")
    prefix, now = settings.redis_prefix, time.time_ns() // 1000
    stages = {stage: StageTelemetry(redis_server, prefix, stage, "0") for stage in STAGES}
    counters = Counters(settings)
    counters.begin()  # nothing was ever published
    stages["published"].record([now] * 10)
    for telemetry in stages.values():
        telemetry.save()
    with pytest.raises(Busy, match="10 tweets of others"):
        counters.begin()
    for stage in STAGES[1:]:
        stages[stage].record([now] * 10)
        stages[stage].save()
    counters.begin()
    assert counters.since()["published"]["total"] == 0
    stages["published"].record([now + 1] * 5)
    stages["published"].save()
    assert backlogs(counters.since()) == {"enriched": 5, "ranked": 5, "searchable": 5}
    counters.close()
    for telemetry in stages.values():
        telemetry.close()
