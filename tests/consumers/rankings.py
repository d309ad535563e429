"""Counts as *trending* writes them, and what the trending consumer makes of them in Redis."""

import time
from collections.abc import Callable

import orjson
import pytest
import redis

from common.settings import Settings
from common.stored_counts import highest
from common.tweets import BUCKET_SECONDS, HASHTAG_COUNTS, TOTAL, BucketCount, HashtagCount, SlotCount, to_json
from consumers.trending import Trending
from tests.memory import Memory

NOW = int(time.time()) // 5 * 5
"""Long ago when other tests came first."""

several_shards = pytest.mark.parametrize("shards", [1, 2, 5])


def count(
    number: int, hashtag: str = TOTAL, start: int = NOW, sent_us: int = NOW * 1_000_000, shards: int = 1, shard: int = 0
) -> bytes:
    """Of a hashtag, or of the whole bucket."""
    counted = start, BUCKET_SECONDS, shards, shard, number, sent_us, sent_us
    return to_json(HashtagCount(*counted, hashtag) if hashtag else BucketCount(*counted))


def slot(
    number: int, start: int = NOW, sent_us: int = NOW * 1_000_000, shards: int = 1, shard: int = 0
) -> bytes:
    return to_json(SlotCount(start, BUCKET_SECONDS, shards, shard, number, sent_us, sent_us))


def parts(event: Callable[..., bytes], number: int, *which, shards: int) -> list[bytes]:
    """What each of so many shards tells, of which the first counted most."""
    of_each = [number - number // shards * (shards - 1), *[number // shards] * (shards - 1)]
    return [event(part, *which, shards=shards, shard=shard) for shard, part in enumerate(of_each) if part]


def place(index: int) -> str:
    return f"0/{index}"


def publish(memory: Memory, *events: bytes) -> None:
    with memory.data.producer(HASHTAG_COUNTS) as producer:
        for number, event in enumerate(events):
            producer.send(str(number), event)


def bucket(client: redis.Redis, settings: Settings, start: int = NOW) -> dict[str, int]:
    content = client.hgetall(f"{settings.redis_prefix}bucket:{start}")
    return {tag: highest(stored) for tag, stored in content.items()}


def slots(client: redis.Redis, settings: Settings, start: int = NOW) -> dict[int, int]:
    """Tweets by slot."""
    content = client.hgetall(f"{settings.redis_prefix}slots:{start}")
    return {int(number): highest(stored) for number, stored in content.items() if number != "by"}


def reported(client: redis.Redis, settings: Settings, *members: str) -> int:
    """Tweets that these members have reported as ranked."""
    contents = [client.get(f"{settings.redis_prefix}telemetry:ranked:trending-{member}") for member in members]
    return sum(orjson.loads(content)["total"] for content in contents if content)


def totals(client: redis.Redis, settings: Settings) -> dict[str, int]:
    """What the ranking of an hour shows, by hashtag: NOW may be long ago when other tests came first."""
    ranking = orjson.loads(client.get(f"{settings.redis_prefix}ranking:1h"))
    return {each["hashtag"]: each["count"] for each in ranking["hashtags"]} | {TOTAL: ranking["tweets"]}


def report(trending: Trending, *events: bytes) -> None:
    trending.handle(list(events), place)
    trending._published_at = 0.0  # its turn
    trending.tick()
