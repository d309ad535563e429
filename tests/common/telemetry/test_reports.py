"""Telemetry against a real Redis."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator

import numpy as np
import psutil
import pytest
from redis import Redis

from common.telemetry.latency import Encoder, as_histogram, new_histogram
from common.telemetry.reports import SPANS, StageTelemetry, fold_ended
from common.telemetry.stages import (
    StageReading,
    read_pipeline,
    read_scheduled,
    read_stages,
    read_totals,
    source_problem,
    waiting,
)
from tests.web.conftest import redis, redis_server  # noqa: F401

PREFIX = "murmur:test:any:"
NOW = int(time.time())
US = 1_000_000
Report = Callable[..., StageTelemetry]


@pytest.fixture
def report(redis_server: str, redis: Redis) -> Iterator[Report]:  # noqa: F811
    """Makes a process of a stage; those that a test leaves open are closed."""
    made: list[StageTelemetry] = []

    def start(stage: str, process: str = "0") -> StageTelemetry:
        made.append(StageTelemetry(redis_server, PREFIX, stage, process))
        return made[-1]

    yield start
    for telemetry in made:
        telemetry.close()


def reading(redis: Redis, stage: str, now: float | None = None) -> StageReading:  # noqa: F811
    return next(s for s in read_pipeline(redis, PREFIX, now) if s["name"] == stage)


def test_nothing_is_known_of_a_stage_that_never_reported(redis: Redis) -> None:  # noqa: F811
    assert read_pipeline(redis, PREFIX) == [
        {"name": name, "rate_per_s": None, "lag_events": None, "lag_seconds": None,
         "latency_ms": {"p50": None, "p95": None, "p99": None}}
        for name in ("published", "enriched", "ranked", "searchable")
    ]


def test_latency_counts_from_the_intended_send(redis: Redis, report: Report) -> None:  # noqa: F811
    now = time.time_ns() // 1000
    telemetry = report("enriched")
    telemetry.record([now - 100_000] * 98 + [now - 2_000_000] * 2, now)
    telemetry.save()
    latency = reading(redis, "enriched")["latency_ms"]
    assert latency["p50"] == pytest.approx(100, rel=0.02)
    assert latency["p95"] == pytest.approx(100, rel=0.02)
    assert latency["p99"] == pytest.approx(2000, rel=0.02)


def test_latencies_are_forgotten_when_nothing_comes(redis: Redis, report: Report) -> None:  # noqa: F811
    telemetry = report("enriched")
    telemetry.record([NOW * US], (NOW + 1) * US)
    telemetry.save()
    assert reading(redis, "enriched", NOW + 2)["latency_ms"]["p50"] is not None
    assert reading(redis, "enriched", NOW + 60)["latency_ms"]["p50"] is None


def test_the_rate_is_the_mean_of_five_whole_seconds(redis: Redis, report: Report) -> None:  # noqa: F811
    one, other = report("published", "one"), report("published", "other")
    for second in range(NOW - 8, NOW + 1):
        one.record([second * US] * 10, second * US)
        other.record([second * US] * 5, second * US + 999_999)
    one.save()
    other.save()
    assert reading(redis, "published", NOW + 0.5)["rate_per_s"] == 15


def test_a_silent_process_has_no_rate_and_an_ended_one_has_rate_zero(
    redis: Redis, report: Report  # noqa: F811
) -> None:
    telemetry = report("published")
    telemetry.record([NOW * US])
    telemetry.save()
    assert reading(redis, "published", time.time() + 100)["rate_per_s"] is None
    telemetry.close()
    assert reading(redis, "published", time.time() + 100)["rate_per_s"] == 0


def test_a_problem_is_of_a_run_that_is_alive(redis: Redis, report: Report) -> None:  # noqa: F811
    def told(after_s: float = 0) -> str | None:
        return source_problem(read_stages(redis, PREFIX, time.time() + after_s))

    assert told() is None
    one, other = report("published", "one"), report("published", "other")
    one.problem = "the host is not reached"
    one.save()
    other.save()
    assert (told(), told(100)) == ("the host is not reached", None)  # a run that was killed says nothing any more
    one.close()
    assert told() is None
    fold_ended(redis, PREFIX, "published", time.time() + 60)
    assert told() is None


def test_processes_add_up_and_a_restarted_one_goes_on(redis: Redis, report: Report) -> None:  # noqa: F811
    for _ in range(2):
        for process in ("one", "other"):
            telemetry = report("enriched", process)
            telemetry.record([NOW * US] * 10)
            telemetry.add(rejected=1, late=2)
            telemetry.pass_on(ranked=NOW)
            telemetry.close()
    stage = read_stages(redis, PREFIX, time.time())["enriched"]
    assert (stage.total, stage.extra, stage.passed_on) == (40, {"rejected": 4, "late": 8}, {"ranked": NOW})
    assert stage.starts_us == [int(psutil.Process().create_time() * 1e6)] * 4


def test_every_event_counts_in_the_second_for_which_it_was_scheduled(
    redis: Redis, report: Report  # noqa: F811
) -> None:
    """By processes that add up, one of which is restarted."""
    start = (NOW - 10) * US
    sent = start + np.arange(3000) * 1000
    for process, part in (("0", sent[::2]), ("1", sent[1:1500:2]), ("1", sent[1501::2])):
        telemetry = report("ranked", process)
        telemetry.record(part, start + 5 * US)
        telemetry.close()
    found = read_scheduled(redis, PREFIX, NOW - 9, NOW - 8)["ranked"]
    assert found.get_total_count() == 1000
    assert found.get_value_at_percentile(100) == pytest.approx(4000, rel=0.01)
    assert found.get_value_at_percentile(0) == pytest.approx(3000, rel=0.01)
    assert read_scheduled(redis, PREFIX, NOW - 20, NOW)["ranked"].get_total_count() == 3000
    assert read_scheduled(redis, PREFIX, NOW - 20, NOW)["searchable"].get_total_count() == 0
    assert read_scheduled(redis, PREFIX, NOW, NOW)["ranked"].get_total_count() == 0


def test_runs_that_ended_are_folded_into_one_and_all_their_counts_stay(
    redis: Redis, report: Report  # noqa: F811
) -> None:
    for run in ("run-1", "run-2"):
        ended = report("published", run)
        ended.record([NOW * US] * 10)
        ended.add(refused=1)
        ended.close()
    alive = report("published", "alive")
    alive.record([(NOW + 1) * US] * 5)
    alive.save()
    before = read_stages(redis, PREFIX, time.time())["published"]
    fold_ended(redis, PREFIX, "published", NOW - 60)
    assert len(redis.smembers(f"{PREFIX}telemetry")) == 3  # they ended just now
    for _ in range(2):
        fold_ended(redis, PREFIX, "published", time.time() + 60)
        assert redis.smembers(f"{PREFIX}telemetry") == {
            f"{PREFIX}telemetry:published:{process}" for process in ("ended", "alive")}
    after = read_stages(redis, PREFIX, time.time())["published"]
    assert (after.total, after.extra, after.sent_high_us) == (before.total, before.extra, before.sent_high_us)
    assert sorted(after.spans) == sorted(before.spans)
    assert read_totals(redis, PREFIX)["published"] == {"total": 25, "refused": 2}
    assert not redis.exists(f"{PREFIX}scheduled:published:run-1")


def test_a_publisher_that_starts_folds_those_that_ended_long_ago(
    redis: Redis, report: Report, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:
    monkeypatch.setattr("common.telemetry.reports.KEPT_SECONDS", -60)
    for run in range(5):
        ended = report("published", f"run-{run}")
        ended.record([NOW * US] * 10)
        ended.close()
    assert len(redis.smembers(f"{PREFIX}telemetry")) == 2
    assert read_totals(redis, PREFIX)["published"]["total"] == 50


def test_a_time_may_stand_for_several_events(redis: Redis, report: Report) -> None:  # noqa: F811
    telemetry = report("enriched")
    telemetry.record([NOW * US, NOW * US + 10_000], (NOW + 1) * US, np.array([7, 3]))
    telemetry.close()
    assert read_totals(redis, PREFIX)["enriched"]["total"] == 10
    assert read_scheduled(redis, PREFIX, NOW, NOW + 1)["enriched"].get_total_count() == 10


def test_scheduled_latencies_are_back_after_redis_lost_its_data(redis: Redis, report: Report) -> None:  # noqa: F811
    telemetry = report("enriched")
    telemetry.record([(NOW - 5) * US] * 10)
    telemetry.save()
    redis.flushall()
    for _ in range(2):  # the first write sees the loss, the next repairs it
        telemetry.record([NOW * US])
        telemetry.save()
    assert read_scheduled(redis, PREFIX, NOW - 5, NOW - 4)["enriched"].get_total_count() == 10


def test_all_is_back_after_redis_lost_its_data(redis: Redis, report: Report) -> None:  # noqa: F811
    telemetry = report("ranked")
    telemetry.record([NOW * US] * 10)
    telemetry.save()
    redis.flushall()
    telemetry.save()
    assert read_stages(redis, PREFIX, time.time())["ranked"].total == 10


class TestLag:
    """*published* has sent ten events a second, 0.1 s apart, for ten seconds."""

    START = NOW - 20

    @pytest.fixture
    def published(self, report: Report) -> StageTelemetry:
        telemetry = report("published")
        for tenth in range(100):
            sent = self.START * US + tenth * 100_000
            telemetry.record([sent], sent)
        telemetry.save()
        return telemetry

    def at(self, seconds: float) -> int:
        return int((self.START + seconds) * US)

    def lag(self, redis: Redis, stage: str) -> tuple[int | None, float | None]:  # noqa: F811
        found = reading(redis, stage, self.START + 30)
        return found["lag_events"], found["lag_seconds"]

    def complete(self, report: Report, stage: str, seconds: float) -> StageTelemetry:
        telemetry = report(stage)
        telemetry.record([self.at(seconds)])
        telemetry.save()
        return telemetry

    def test_is_what_was_published_after_the_last_completed(
        self, redis: Redis, report: Report, published: StageTelemetry  # noqa: F811
    ) -> None:
        self.complete(report, "enriched", 5.5)
        events, seconds = self.lag(redis, "enriched")
        assert events == pytest.approx(44, abs=1)
        assert seconds == pytest.approx(24.5)
        assert self.lag(redis, "published") == (0, 0)
        assert self.lag(redis, "ranked") == (None, None)

    def test_of_a_stage_that_has_completed_nothing_is_all(
        self, redis: Redis, report: Report, published: StageTelemetry  # noqa: F811
    ) -> None:
        report("searchable").save()
        assert self.lag(redis, "searchable") == (100, 30)

    def test_is_zero_at_the_end_though_counts_drifted(
        self, redis: Redis, report: Report, published: StageTelemetry  # noqa: F811
    ) -> None:
        self.complete(report, "searchable", 9.9)  # 1 of 100 counted: the others fell into a crash
        assert self.lag(redis, "searchable") == (0, 0)

    def test_of_a_stage_killed_before_it_reported_follows_from_later_stages(
        self, redis: Redis, report: Report, published: StageTelemetry  # noqa: F811
    ) -> None:
        self.complete(report, "enriched", 8)
        assert self.lag(redis, "enriched") != (0, 0)
        self.complete(report, "searchable", 9.9)
        assert self.lag(redis, "enriched") == (0, 0)

    def test_leaves_out_what_was_not_let_through(
        self, redis: Redis, report: Report, published: StageTelemetry  # noqa: F811
    ) -> None:
        enriched = self.complete(report, "enriched", 9.9)
        enriched.pass_on(ranked=self.at(3), searchable=self.at(6))
        enriched.save()
        self.complete(report, "ranked", 3)
        self.complete(report, "searchable", 5)
        assert self.lag(redis, "ranked") == (0, 0)
        assert self.lag(redis, "searchable")[0] == pytest.approx(49, abs=1)

    def test_is_remembered_by_a_resumed_publisher(
        self, redis: Redis, report: Report, published: StageTelemetry  # noqa: F811
    ) -> None:
        published.close()
        report("published").save()
        report("enriched").save()
        assert self.lag(redis, "enriched") == (100, 30)


def test_a_backlog_beyond_what_is_remembered_counts_as_that(redis: Redis, report: Report) -> None:  # noqa: F811
    telemetry = report("published")
    for second in range(SPANS + 5):
        telemetry.record([(NOW + second) * US], (NOW + second) * US)
    telemetry.save()
    report("enriched").save()
    assert reading(redis, "enriched")["lag_events"] == SPANS


def test_latencies_are_rounded_as_the_histogram_would() -> None:
    latencies = np.unique(np.geomspace(1, 4e9, 2000).astype(np.int64))
    exact, rounded = new_histogram(), new_histogram()
    for latency, value in zip(latencies, as_histogram(latencies), strict=True):
        exact.record_value(int(np.clip(latency // 1000, 1, 3_600_000)))
        rounded.record_value(int(value))
    for percentile in (0, 10, 50, 90, 99, 100):
        assert rounded.get_value_at_percentile(percentile) == exact.get_value_at_percentile(percentile)


def test_part_of_a_span_waits() -> None:
    assert waiting([[0, 1_000_000, 100], [2_000_000, 2_000_000, 7]], 750_000, 10.0) == (32, 9.25)
    assert waiting([[0, 1_000_000, 100]], 1_000_000, 10.0) == (0, 0)
    assert waiting([], 0, 10.0) == (0, 0)


def test_a_stage_goes_on_while_redis_is_away() -> None:
    telemetry = StageTelemetry("redis://127.0.0.1:1/0", PREFIX, "ranked", "0")
    telemetry.record([NOW * US])
    telemetry.save()
    telemetry.close()


def test_a_counter_that_is_zero_is_there(report: Report, redis: Redis) -> None:  # noqa: F811
    """Prometheus sees the first increase of a counter only if it was there before."""
    telemetry = report("enriched")
    telemetry.add(rejected_future=0, parked=2)
    telemetry.save()
    assert read_stages(redis, PREFIX, NOW)["enriched"].extra == {"rejected_future": 0, "parked": 2}
    assert "rejected_future" in read_totals(redis, PREFIX)["enriched"]


def test_an_encoder_that_is_used_again_tells_the_same() -> None:
    encode = Encoder()
    for latencies in ({1: 3, 77_000: 1}, {5: 2}, {}, {3_600_000: 9}):
        fresh = new_histogram()
        for milliseconds, count in latencies.items():
            fresh.record_value(milliseconds, count)
        assert encode(latencies) == fresh.encode().decode()


def test_reports_leave_no_garbage(report: Report) -> None:
    """Consumers have Python look for it seldom."""
    telemetry = report("enriched")

    def told(times: int) -> None:
        for n in range(times):
            now = (NOW - n % 10) * US
            telemetry.record([now - 5_000, now - 70_000], now)
            telemetry.save()

    told(20)
    gc.collect()
    gc.disable()
    try:
        told(100)
        assert gc.collect() < 100
    finally:
        gc.enable()
