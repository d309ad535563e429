"""The number of shards is changed while tweets come in, in the middle of a window: counts stay exact."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from common.tweets import ENRICHED
from middleware.registry import connect, registry
from tests.conformance.servers import operator
from tests.stack import Stack, await_end, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

TWEETS = 1000


@pytest.fixture(params=sorted(registry()))
def instance(request: pytest.FixtureRequest) -> Iterator[Stack]:
    instance = Stack(f"test-shards-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_PARTITIONS="2")
    with instance.running():
        yield instance


def log(instance: Stack) -> str:
    return (instance.settings().log_dir / "spark.log").read_text()


def has_acknowledged(instance: Stack, tweets: int) -> bool:
    return instance.acknowledged("long") > tweets


def change(instance: Stack, shards: int) -> None:
    instance.murmur("down")
    instance.environment["MURMUR_TRENDING_SHARDS"] = str(shards)
    instance.murmur("up", timeout=240)


def test_one_shard_becomes_two_and_one_again(instance: Stack) -> None:
    with instance.source(200, 20_000) as source:
        for shards, acknowledged in ((2, 2000), (1, 8000)):
            eventually("tweets are acknowledged", partial(has_acknowledged, instance, acknowledged), 180)
            change(instance, shards)
        await_end(source, 300)
    instance.audit_is_exact(20_000, timeout=120)
    assert "counts with 1 shards instead of 2" in log(instance)


def test_where_tweets_are_gone_both_queries_go_on_as_they_were(instance: Stack) -> None:
    instance.ingest("--source", "synthetic", "--rate", "500", "--limit", str(TWEETS), "--run", "before")
    instance.audit_is_exact(TWEETS, timeout=120)
    with connect(instance.settings()) as middleware:
        end = middleware.data.end(ENRICHED)
        operator(middleware).truncate(end)
    change(instance, 2)
    assert "goes on with 1 shards instead of 2" in log(instance)
    spark = instance.pids()["spark"][0]
    instance.ingest("--source", "synthetic", "--rate", "500", "--limit", str(TWEETS), "--run", "after")
    stages = instance.audit("--run", "after")
    assert {(stage["expected"], stage["missing"], stage["duplicated"]) for stage in stages.values()} == {(TWEETS, 0, 0)}
    assert instance.pids()["spark"][0] == spark
