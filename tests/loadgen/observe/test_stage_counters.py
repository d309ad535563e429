from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from redis import Redis

from common.settings import Settings
from common.telemetry.latency import new_histogram
from common.telemetry.reports import StageTelemetry
from common.tweets import STAGES
from loadgen.errors import Busy
from loadgen.observe import stage_counters
from loadgen.observe.samples import Latency
from loadgen.observe.stage_counters import Counters, backlogs, summary
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


@pytest.fixture
def settings(redis_server: str, redis: Redis) -> Settings:  # noqa: F811
    return Settings(redis_url=redis_server, instance="counted")


@pytest.fixture
def stages(settings: Settings) -> Iterator[dict[str, StageTelemetry]]:
    """What each stage says of itself."""
    found = {stage: StageTelemetry(settings.redis_url, settings.redis_prefix, stage, "0") for stage in STAGES}
    yield found
    for telemetry in found.values():
        telemetry.close()


@pytest.mark.server
def test_counts_begin_when_nothing_is_on_its_way(
    settings: Settings, stages: dict[str, StageTelemetry], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise what was published before would be taken for the experiment's own."""
    monkeypatch.setattr(stage_counters, "IDLE_SECONDS", 0.1)
    counters, now = Counters(settings), time.time_ns() // 1000
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


@pytest.mark.server
def test_latencies_wait_for_a_stage_that_says_later_what_it_completed(
    settings: Settings, stages: dict[str, StageTelemetry]
) -> None:
    """Its last batch would be missing from them, though the stages behind have it."""
    counters, now = Counters(settings), int(time.time())
    for stage, telemetry in stages.items():
        telemetry.record([now * 1_000_000] * (50 if stage == "enriched" else 100))
        telemetry.save()

    def arrived(patience_s: float) -> dict[str, int]:
        found = counters.latencies(now, now + 1, 100, patience_s)
        return {stage: latency.arrived for stage, latency in found.items()}

    assert arrived(0) == {"published": 100, "enriched": 50, "ranked": 100, "searchable": 100}
    later = threading.Timer(1.0, stages["enriched"].record, ([now * 1_000_000] * 50,))
    later.start()
    assert set(arrived(30).values()) == {100}
    began = time.monotonic()
    counters.latencies(now, now + 1, 101, 1.0)
    assert 1 <= time.monotonic() - began < 20
    later.join()
    counters.close()
