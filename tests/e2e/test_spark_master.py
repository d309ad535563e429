"""Both queries on a standalone master with two workers, whose executors are killed while tweets come in."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psutil
import pytest
import redis

from common.telemetry.stages import read_stages
from common.tweets import ENRICHED
from middleware.registry import connect, registry
from tests.spark_cluster import URL, WORKERS, executors
from tests.stack import Stack, await_end, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

TWEETS = 24_000


@pytest.fixture(params=registry())
def instance(request: pytest.FixtureRequest, workers: list[psutil.Process]) -> Iterator[Stack]:
    instance = Stack(
        f"test-master-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_PARTITIONS="2",
        MURMUR_SPARK_MASTER=URL, MURMUR_TRENDING_SHARDS="2",
    )
    with instance.running():
        yield instance


def enriched(instance: Stack) -> int:
    """How many tweets *enrich* has told of."""
    settings = instance.settings()
    with redis.Redis.from_url(settings.redis_address) as client:
        return read_stages(client, settings.redis_prefix, time.time())["enriched"].total


def repeats_nothing(instance: Stack) -> bool:
    """Whether Spark's sink has each tweet once, whatever is killed: what lies behind it always has."""
    with connect(instance.settings()) as middleware:
        return middleware.spark.binding(ENRICHED).exactly_once


def test_executors_that_are_killed_cost_no_tweet_and_repeat_none(
    instance: Stack, workers: list[psutil.Process]
) -> None:
    assert len(executors(workers)) == WORKERS
    with instance.source(300, TWEETS) as source:
        for kill in range(4):
            before = enriched(instance)
            eventually("tweets are enriched", lambda before=before: enriched(instance) > before + 500, 120)
            assert source.poll() is None, "the kill would come after the last tweet"
            victim = executors(workers)[kill % WORKERS]
            victim.kill()
            eventually("there are two again", lambda gone=victim.pid: {
                process.pid for process in executors(workers)} - {gone} and len(executors(workers)) == WORKERS, 120)
            time.sleep(1)
        await_end(source, 300)
    stages = instance.audit(timeout=240)
    if not repeats_nothing(instance):
        stages["enriched"]["duplicated"] = 0  # of a task that was killed, which its next attempt wrote again
    assert {name: (stage["expected"], stage["missing"], stage["duplicated"]) for name, stage in stages.items()} == (
        dict.fromkeys(("published", "enriched", "ranked", "stored", "indexed"), (TWEETS, 0, 0)))
