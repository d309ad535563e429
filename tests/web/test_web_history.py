"""The history of the stages: a point for each slot, whoever comes first, and a quarter of an hour of them."""

from __future__ import annotations

import time
from datetime import datetime
from itertools import pairwise
from threading import Event

import pytest
from flask.testing import FlaskClient
from redis import Redis

from common.settings import Settings
from common.telemetry import history
from common.telemetry.stages import StageReading, read_pipeline
from common.tweets import STAGES
from tests.stack import eventually
from tests.web.test_web_events import gunicorn
from web.history import start


def reading(**lags: float | None) -> list[StageReading]:
    """All stages, with these lags in seconds; unknown are those of the others."""
    return [{
        "name": name, "rate_per_s": 1.0, "lag_events": None, "lag_seconds": lags.get(name),
        "latency_ms": {"p50": None, "p95": None, "p99": None},
    } for name in STAGES]


def points(client: FlaskClient) -> list[tuple[float, float | None]]:
    """When, and how far *enriched* was behind then."""
    body = client.get("/api/v1/pipeline/history").json
    assert body["every_s"] == history.EVERY_S
    return [(datetime.fromisoformat(point["at"]).timestamp(), point["stages"][1]["lag_seconds"])
            for point in body["points"]]


def test_nobody_has_told_anything(client: FlaskClient) -> None:
    assert points(client) == []


def test_a_slot_has_one_point_by_whoever_comes_first(client: FlaskClient, settings: Settings, redis: Redis) -> None:
    slot = time.time() // history.EVERY_S * history.EVERY_S - 60
    history.write(redis, settings.redis_prefix, slot + 0.1, reading(enriched=1.0))
    history.write(redis, settings.redis_prefix, slot + 4.9, reading(enriched=2.0))
    history.write(redis, settings.redis_prefix, slot + 5, reading())
    assert points(client) == [(slot, 1.0), (slot + 5, None)]


def test_it_is_bounded_and_goes_when_nobody_tells_any_more(
    client: FlaskClient, settings: Settings, redis: Redis
) -> None:
    now = time.time() // history.EVERY_S * history.EVERY_S
    for at in (now + 3600, now - history.KEPT_S, now - history.KEPT_S + history.EVERY_S, now):
        history.write(redis, settings.redis_prefix, at, reading())
    kept = history.read(redis, settings.redis_prefix, now)
    assert [point.at for point in kept] == [now - history.KEPT_S + history.EVERY_S, now]
    key = history.key(settings.redis_prefix)
    assert redis.hlen(key) == 2
    assert 0 < redis.ttl(key) <= history.KEPT_S


def test_several_processes_keep_it_with_one_point_a_slot(
    client: FlaskClient, settings: Settings, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "EVERY_S", 1)
    ending = Event()
    for _ in range(3):
        start(redis, settings.redis_prefix, lambda: not ending.is_set())
    eventually("three points", lambda: len(points(client)) >= 3, 10)
    ending.set()
    told = [at for at, _ in points(client)]
    assert all(after - before >= 1 for before, after in pairwise(told))


def test_what_is_known_of_no_stage_is_null(client: FlaskClient, settings: Settings, redis: Redis) -> None:
    now = time.time()
    history.write(redis, settings.redis_prefix, now, read_pipeline(redis, settings.redis_prefix, now))
    (point,) = client.get("/api/v1/pipeline/history").json["points"]
    assert [stage["name"] for stage in point["stages"]] == list(STAGES)
    assert {stage["rate_per_s"] for stage in point["stages"]} == {None}


def test_without_redis_it_is_unavailable(lonely: FlaskClient) -> None:
    assert lonely.get("/api/v1/pipeline/history").status_code == 503


def test_a_server_keeps_it_whoever_asks(settings: Settings, redis: Redis) -> None:
    with gunicorn(settings):
        eventually("a point", lambda: redis.hlen(history.key(settings.redis_prefix)), 20)
