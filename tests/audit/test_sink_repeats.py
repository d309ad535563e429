"""Repeats of a sink that is at least once are legitimate where Spark has died, and only there."""

from __future__ import annotations

import pytest
from redis import Redis

from audit import sink_repeats
from audit.ledgers.run import Finding
from audit.sink_repeats import legitimate
from common.settings import Settings
from common.telemetry.reports import StageTelemetry
from ingest.manifest import Manifest
from middleware.spark import SparkBinding
from tests.audit.chain import Chain
from tests.web.conftest import redis, redis_server  # noqa: F401

S = 1_000_000
AT_LEAST_ONCE = SparkBinding("kafka", "", "", "", "", "", batch_events=1000)


@pytest.mark.parametrize(("found", "deaths", "binding", "bound", "allowed"), [
    (500, 1, AT_LEAST_ONCE, None, 500),
    (1500, 1, AT_LEAST_ONCE, None, 1000),
    (1500, 2, AT_LEAST_ONCE, None, 1500),
    (1500, 1, AT_LEAST_ONCE, 200, 200),
    (500, 1, SparkBinding("pravega", "", "", "", "", "", exactly_once=True), None, 0),
])
def test_repeats_are_legitimate_of_a_sink_at_least_once(
    found: int, deaths: int, binding: SparkBinding, bound: int | None, allowed: int
) -> None:
    assert legitimate(found, deaths, binding, bound) == allowed


@pytest.mark.parametrize(("starts_s", "finished", "repeated"), [
    ([], True, 0), ([90], True, 0), ([90, 150], True, 4), ([210], True, 4), ([2000], True, 0), ([2000], False, 4),
    ([90, 110, 150], True, 5), ([150, 2000], True, 4),
])
def test_only_repeats_of_runs_that_a_dead_spark_was_at_are_legitimate(
    chain: Chain, monkeypatch: pytest.MonkeyPatch, starts_s: list[int], finished: bool, repeated: int
) -> None:
    binding = SparkBinding("kafka", "", "", "", "", "", batch_events=4)
    monkeypatch.setattr(sink_repeats, "connect", lambda settings: chain.memory)
    monkeypatch.setattr(chain.memory.spark, "binding", lambda stream: binding, raising=False)
    monkeypatch.setattr(sink_repeats, "spark_starts_us", lambda settings: [at * S for at in starts_s])
    runs = [Manifest("hit", "test", 100 * S, finished=finished, changed_at_us=200 * S),
            Manifest("later", "test", 3000 * S)]
    found = sink_repeats.tolerate(chain.settings, Finding(20, 20, duplicated=12), runs, {"hit": 5, "later": 7})
    assert (found.duplicated, found.detail.get("repeated", 0)) == (12 - repeated, repeated)


def test_spark_tells_when_it_was_started(redis_server: str, redis: Redis) -> None:  # noqa: F811
    settings = Settings(redis_url=redis_server)
    assert sink_repeats.spark_starts_us(settings) == []
    for _ in range(2):
        StageTelemetry(redis_server, settings.redis_prefix, "enriched", "spark").close()
    assert len(sink_repeats.spark_starts_us(settings)) == 2
