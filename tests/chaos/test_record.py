"""What is kept of failures, and that the loss of everything else in Redis leaves it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

from chaos import cache
from chaos.record import KEPT, Record, keep, log_file
from common.settings import Settings
from common.telemetry.failures import FAILURES

BEGUN = Record(at_us=1, what="kill", name="spark", pid=7)
KNOWN = replace(BEGUN, back_after_s=2.1)


@pytest.fixture
def settings(redis_server: str, redis: Redis, tmp_path: Path) -> Settings:
    found = Settings(redis_url=redis_server, instance="one", home=tmp_path)
    found.log_dir.mkdir(parents=True)
    return found


def kept(settings: Settings, redis: Redis) -> list[dict[str, object]]:
    return [json.loads(record) for record in redis.lrange(f"{settings.redis_prefix}{FAILURES}", 0, -1)]


def test_what_more_is_known_stands_in_the_place_of_what_was(settings: Settings, redis: Redis) -> None:
    keep(settings, BEGUN)
    assert kept(settings, redis) == [{"at_us": 1, "what": "kill", "name": "spark", "pid": 7}]
    keep(settings, KNOWN, instead_of=BEGUN)
    assert kept(settings, redis) == [{"at_us": 1, "what": "kill", "name": "spark", "pid": 7, "back_after_s": 2.1}]
    assert not log_file(settings).exists()


def test_the_newest_are_kept(settings: Settings, redis: Redis) -> None:
    before = [str(replace(BEGUN, at_us=at_us)) for at_us in range(KEPT)]
    redis.lpush(f"{settings.redis_prefix}{FAILURES}", *before)
    keep(settings, replace(BEGUN, at_us=KEPT))
    assert [record["at_us"] for record in kept(settings, redis)] == list(range(KEPT, 0, -1))


def test_without_redis_they_go_to_a_log(settings: Settings) -> None:
    away = settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    keep(away, BEGUN)
    keep(away, KNOWN, instead_of=BEGUN)
    assert [json.loads(line) for line in log_file(away).read_text().splitlines()] == [BEGUN.as_json(), KNOWN.as_json()]


def test_the_cache_loses_what_is_the_instances_and_nothing_else(settings: Settings, redis: Redis) -> None:
    other = settings.model_copy(update={"instance": "one-more"})
    redis.mset({f"{settings.redis_prefix}bucket:{number}": "" for number in range(3000)})
    redis.set(f"{other.redis_prefix}marker", "")
    keep(settings, BEGUN)
    cache.flush(settings)
    assert sorted(redis.keys("*")) == sorted([f"{settings.redis_prefix}{FAILURES}", f"{other.redis_prefix}marker"])
