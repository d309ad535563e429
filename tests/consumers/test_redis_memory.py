"""Redis with little memory, with the policy of the instance's own: search results go first, and no count is lost."""

import re
import threading
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
import redis

from common.redis_memory import CACHE_SHARE, has_room_to_cache
from common.settings import Settings
from common.storage.held import Held
from common.tweets import TOTAL
from consumers.buckets import Buckets
from consumers.ranking import Rankings
from consumers.runner import Retry
from status import stores
from tests.consumers.parts import whole
from tests.stack import ROOT
from web.search import Answer, FoundTweet, ResultCache, SearchQuery

pytestmark = pytest.mark.server

NOW = int(time.time()) // 5 * 5
SPARE = 4 << 20
"""Bytes that are free when a test begins."""


@pytest.fixture
def short(client: redis.Redis) -> Iterator[redis.Redis]:
    """A Redis that is nearly empty and has little memory."""
    conf = (ROOT / "deploy/local/redis/redis.conf").read_text()
    policy = re.search(r"^maxmemory-policy (\S+)$", conf, re.M)
    client.config_set("maxmemory-policy", policy[1])
    client.config_set("maxmemory", client.info("memory")["used_memory"] + SPARE)
    yield client
    client.config_set("maxmemory", 0)
    client.flushall()


def cache(client: redis.Redis, count: int) -> None:
    """Caches the results of so many searches, of 8 KiB each, as the API does."""
    for _ in range(count):
        result = ResultCache(client, Settings(), uuid4().hex, SearchQuery(q="x"))
        assert result.get() is None
        result.put(Answer(hits=[_hit(uuid4().hex * 256)], bounded=False, newest_at=None))


def _hit(text: str) -> FoundTweet:
    return FoundTweet(tweet_id="1", text=text, created_at="2026-11-21T08:00:00Z", author_id="7", lang="en",
                      hashtags=[], source=None, url=None, distance=0.5)


@pytest.mark.slow
def test_cached_results_leave_room_for_counts(short: redis.Redis, buckets: Buckets) -> None:
    rankings = Rankings(limit=5)
    rankings.update(NOW, {"a": 1, TOTAL: 1})
    rankings.advance(NOW)
    assert buckets.raise_counts(whole({NOW: {"a": 1, TOTAL: 1}}), "m")
    assert buckets.is_publisher("one")
    assert buckets.publish([rankings.ranking("1m")], 1, "one")
    cache(short, 2000)
    memory = short.info("memory")
    assert memory["used_memory"] <= CACHE_SHARE * memory["maxmemory"] + (64 << 10)
    assert not has_room_to_cache(short)
    assert buckets.raise_counts(whole({NOW: {"a": 2, **{f"tag{n}": 1 for n in range(1000)}}}), "m")
    assert buckets.marker() == "m"
    assert short.exists("t:ranking:1m")
    assert short.hget(f"t:bucket:{NOW}", "a") == "2"


def test_a_full_memory_loses_nothing_and_is_waited_for(short: redis.Redis, buckets: Buckets, monkeypatch) -> None:
    monkeypatch.setattr("consumers.runner.FIRST_PAUSE_S", 0.01)
    counts = whole({NOW: {"a": 1, TOTAL: 1}})
    assert buckets.raise_counts(counts, "m")
    for number in range(100):
        short.set(f"others:{number}", "x" * 8192, ex=60)
    short.config_set("maxmemory", short.info("memory")["used_memory"] // 2)
    with pytest.raises(redis.ResponseError, match="maxmemory"):
        buckets.raise_counts(whole({NOW: {"b": 1}}), "m")
    assert buckets.marker() == "m"
    assert short.hgetall(f"t:bucket:{NOW}") == {"a": "1", TOTAL: "1"}
    attempts = []

    def attempt() -> int | None:
        attempts.append(1)
        if len(attempts) == 3:
            short.config_set("maxmemory", 0)
        return buckets.raise_counts(whole({NOW: {"b": 1}}), "m")

    assert Retry(threading.Event())("handling", attempt)
    assert len(attempts) == 3
    assert short.hgetall(f"t:bucket:{NOW}") == {"a": "1", "b": "1", TOTAL: "1"}


def test_where_nothing_is_bounded_there_is_room(client: redis.Redis) -> None:
    assert has_room_to_cache(client)


def test_status_tells_its_memory_and_the_oldest_bucket(short: redis.Redis, redis_url: str) -> None:
    settings = Settings(redis_url=redis_url)
    buckets = Buckets.open(settings)
    assert buckets.begin_rebuild("one")
    assert buckets.rebuild_counts(whole({NOW: {"a": 1}, NOW - 600: {"a": 1}}), "one")
    (found,) = stores.of_redis(settings)
    assert found == Held("redis", found.holds, short.info("memory")["maxmemory"], "bytes", NOW - 600)
    assert 0 < found.holds < found.bound
    short.config_set("maxmemory", 0)
    short.flushall()
    (found,) = stores.of_redis(settings)
    assert (found.bound, found.oldest_at) == (None, None)
