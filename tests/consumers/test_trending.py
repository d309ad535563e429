"""The handler of the trending consumer and its rebuilding, over a middleware in memory and a real Redis."""

import itertools
import time
from collections.abc import Callable
from functools import partial

import hypothesis
import msgspec
import orjson
import pytest
import redis

from common.settings import Settings
from common.stored_counts import highest
from common.tweets import (
    BUCKET_SECONDS,
    HASHTAG_COUNTS,
    REJECTED,
    SLOT_US,
    TOTAL,
    BucketCount,
    HashtagCount,
    RejectedEvent,
    SlotCount,
    to_json,
)
from consumers.ranking import HORIZON_S
from consumers.trending import Trending
from middleware import reread as reread_module
from middleware.errors import Overtaken, Unreachable
from tests.consumers.events import spoilt_json
from tests.memory import Memory
from tests.stack import eventually

pytestmark = pytest.mark.server

NOW = int(time.time()) // 5 * 5


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


@pytest.fixture
def settings(client: redis.Redis, redis_url: str) -> Settings:
    return Settings(redis_url=redis_url, instance="trends")


@pytest.fixture
def start(settings: Settings, memory: Memory, ending) -> Callable[..., Trending]:
    return lambda member="0": ending(Trending(settings, member, lambda _: memory))


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


@several_shards
def test_counts_become_a_ranking(start, client, settings: Settings, shards: int) -> None:
    trending, told = start(), partial(parts, count, shards=shards)
    trending.handle([*told(3), *told(2, "a"), *told(1, "b"), *told(1, "a")], place)
    trending.tick()
    assert totals(client, settings) == {TOTAL: 3, "a": 2, "b": 1}
    trending.handle([*told(3), *told(2, "a")], place)  # they come again
    assert bucket(client, settings) == {TOTAL: 3, "a": 2, "b": 1}
    trending.handle([*told(30), *told(21, "a")], place)
    assert bucket(client, settings) == {TOTAL: 30, "a": 21, "b": 1}


def test_a_publisher_that_stood_still_shows_nothing_old(start, client, settings: Settings, monkeypatch) -> None:
    """Another has taken over between what it read and what it publishes."""
    one, other = start("one"), start("other")
    report(one, count(1, "a"))
    changes = one._buckets.changes

    def late(since: int):
        found = changes(since)
        client.delete(f"{settings.redis_prefix}publisher")  # as when it expires
        report(other, count(3, "a"))
        return found

    monkeypatch.setattr(one._buckets, "changes", late)
    report(one, count(2, "a"))
    assert totals(client, settings)["a"] == 3
    monkeypatch.undo()
    client.delete(f"{settings.redis_prefix}publisher")
    report(one)
    assert totals(client, settings)["a"] == 3


def test_each_row_counts_as_what_it_says(start, client, settings: Settings) -> None:
    """A slot is no bucket, though it is larger or comes alone, nor a bucket a slot, though its tweets lie in one."""
    trending = start()
    trending.handle([count(3), slot(4)], place)
    trending.handle([slot(2, start=NOW - 5)], place)
    trending.handle([count(5, start=NOW - 10)], place)
    assert bucket(client, settings) == {TOTAL: 3}
    assert bucket(client, settings, NOW - 5) == {}
    assert slots(client, settings, NOW - 5) == {NOW * 1_000_000 // SLOT_US: 2}
    assert not client.exists(f"{settings.redis_prefix}slots:{NOW - 10}")


def test_a_bucket_too_late_for_any_ranking_leaves_the_list_of_changes(start, client, settings: Settings) -> None:
    trending, changed = start(), f"{settings.redis_prefix}changed"
    trending.handle([count(1)], place)
    trending.tick()
    trending.handle([count(1, start=NOW - HORIZON_S - 60)], place)
    assert client.zcard(changed) == 2
    eventually("it has left", lambda: trending.tick() or client.zrange(changed, 0, -1) == [str(NOW)], 10)
    assert bucket(client, settings, NOW - HORIZON_S - 60) == {TOTAL: 1}


@several_shards
def test_a_tweet_is_reported_once_when_it_is_visible(start, client, settings: Settings, shards: int) -> None:
    for trending in (start(), start()):  # the second is the successor of the first
        trending.handle([*parts(count, 13, shards=shards), *parts(slot, 13, shards=shards)], place)
        trending.tick()
        trending.close()
    assert reported(client, settings, "0") == 13


def report(trending: Trending, *events: bytes) -> None:
    trending.handle(list(events), place)
    trending._published_at = 0.0  # its turn
    trending.tick()


@several_shards
def test_a_share_that_goes_to_another_member_and_comes_back_is_reported_once(
    start, client, settings: Settings, shards: int
) -> None:
    one, other, told = start("one"), start("other"), partial(parts, slot, shards=shards)
    report(one, *told(10))
    report(other, *told(100))
    report(one, *told(50))  # as after a standstill: it is behind
    assert slots(client, settings) == {NOW * 1_000_000 // SLOT_US: 100}
    report(one, *told(102))
    report(other, *told(102))
    for member in (one, other):
        report(member)
        member.close()
    assert reported(client, settings, "one", "other") == 102


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (2, 3)])
def test_what_is_counted_once_more_with_another_number_of_shards_is_reported_once(
    start, client, settings: Settings, before: int, after: int
) -> None:
    """Not that of buckets either that Redis has let go, of which nobody knows that they were reported."""
    old = NOW - settings.rankings_kept_s - 100
    one = start("one")
    report(one, *parts(slot, 12, shards=before), *parts(slot, 12, NOW - 5, shards=before))
    successor = start("one")
    for number in (6, 12, 14):
        report(successor, *parts(slot, number, old, shards=after), *parts(slot, number, shards=after))
    for member in (one, successor):
        member.close()
    assert reported(client, settings, "one") == 26
    assert not client.exists(f"{settings.redis_prefix}slots:{old}")


def test_slots_that_redis_did_not_take_are_kept_when_it_does(start, client, settings: Settings) -> None:
    """The key is of another type for a while, which fails what comes after the counts."""
    trending, key = start(), f"{settings.redis_prefix}slots:{NOW}"
    client.set(key, "in the way")
    with pytest.raises(redis.ResponseError):
        trending.handle([slot(1, start=NOW - 5), slot(3)], place)
    client.delete(key)
    report(trending, slot(1, start=NOW - 5), slot(3))
    report(trending)
    assert slots(client, settings) == {NOW * 1_000_000 // SLOT_US: 3}
    trending.close()
    assert reported(client, settings, "0") == 4


@several_shards
def test_a_loss_is_repaired_from_the_stream(start, memory: Memory, client, settings: Settings, shards: int) -> None:
    trending = start()
    events = [event for number in range(50) for event in parts(count, number + 1, f"tag{number}", shards=shards)]
    publish(memory, *events)
    trending.handle(events[:10], place)
    client.flushall()
    trending.handle(events[:10], place)
    trending.tick()
    assert bucket(client, settings) == {f"tag{number}": number + 1 for number in range(50)}
    assert totals(client, settings) == bucket(client, settings) | {TOTAL: 0}
    assert list(memory.logs[HASHTAG_COUNTS].groups) == []


def test_a_loss_after_a_change_of_shards_is_repaired_from_the_stream(
    start, memory: Memory, client, settings: Settings
) -> None:
    """Which holds what either number of shards has told; the second has not caught up with all of it."""
    trending = start()
    publish(memory, *parts(count, 20, "a", shards=2), *parts(count, 21, "b", shards=2))
    publish(memory, *parts(count, 30, "a", shards=5), *parts(count, 11, "b", shards=5))
    trending.tick()
    client.flushall()
    report(trending, *parts(count, 31, "a", shards=5))
    assert bucket(client, settings) == {"a": 31, "b": 21}
    assert totals(client, settings) == {"a": 31, "b": 21, TOTAL: 0}


def test_a_rebuild_takes_no_silence_for_the_end(start, memory: Memory, client, settings: Settings, monkeypatch) -> None:
    """The stream store stalls in the middle, and nothing comes for a while."""
    monkeypatch.setattr("middleware.reread.POLL_EVENTS", 7)
    publish(memory, *(count(number + 1, f"tag{number}") for number in range(50)))
    stalls = stalling(memory)
    start().tick()
    assert len(stalls) > 3
    assert len(bucket(client, settings)) == 50


def stalling(memory: Memory) -> list[int]:
    """Has every second poll of any consumer of `memory` find nothing; numbers of those polls."""
    consumer, polls, stalls = memory.data.consumer, [0], []

    def stalled(*arguments, **named):
        joined = consumer(*arguments, **named)
        poll = joined.poll

        def instead(max_events: int, timeout: float) -> list[bytes]:
            polls[0] += 1
            if polls[0] % 2 == 0:
                stalls.append(polls[0])
                return []
            return poll(max_events, timeout)

        joined.poll = instead
        return joined

    memory.data.consumer = stalled
    return stalls


def test_a_rebuild_ends_beside_a_writer_that_goes_on(start, memory: Memory, client, settings: Settings) -> None:
    publish(memory, count(1, "before"))
    memory.on_poll = lambda: publish(memory, count(1, f"later{len(memory.events(HASHTAG_COUNTS))}"))
    start().tick()
    assert "before" in bucket(client, settings)
    assert client.exists(f"{settings.redis_prefix}marker")


def test_a_loss_in_the_middle_of_a_rebuild(start, memory: Memory, client, settings: Settings, monkeypatch) -> None:
    monkeypatch.setattr("middleware.reread.POLL_EVENTS", 7)
    publish(memory, *(count(number + 1, f"tag{number}") for number in range(50)))
    polls = []

    def lose_once() -> None:
        polls.append(len(polls))
        if len(polls) == 4:
            assert bucket(client, settings)
            client.flushall()

    memory.on_poll = lose_once
    start().tick()
    assert len(polls) > 8
    assert bucket(client, settings) == {f"tag{number}": number + 1 for number in range(50)}


def test_redis_away_in_the_middle_of_a_rebuild(start, memory: Memory, client, settings: Settings, monkeypatch) -> None:
    monkeypatch.setattr("middleware.reread.POLL_EVENTS", 7)
    publish(memory, *(count(number + 1, f"tag{number}") for number in range(50)))
    polls = []

    def cut_once() -> None:
        polls.append(len(polls))
        if len(polls) == 3:
            raise redis.ConnectionError("gone")

    memory.on_poll = cut_once
    trending = start()
    with pytest.raises(redis.ConnectionError):
        trending.tick()
    assert not client.exists(f"{settings.redis_prefix}marker")
    assert list(memory.logs[HASHTAG_COUNTS].groups) == []
    trending._published_at = 0.0  # its turn again
    trending.tick()
    assert len(bucket(client, settings)) == 50


def test_a_stream_store_that_hangs_is_given_up(start, memory: Memory, client, settings: Settings, monkeypatch) -> None:
    monkeypatch.setattr(reread_module, "SILENCE_S", 0.05)
    publish(memory, count(1, "a"))
    monkeypatch.setattr("tests.memory.MemoryConsumer.poll", lambda *_: [])
    with pytest.raises(Unreachable, match="before its end"):
        start().tick()
    assert not client.exists(f"{settings.redis_prefix}marker")


def test_retention_in_the_middle_of_a_rebuild(start, memory: Memory, client, settings: Settings, monkeypatch) -> None:
    """It begins anew, from what the stream holds then."""
    monkeypatch.setattr("middleware.reread.POLL_EVENTS", 7)
    publish(memory, *(count(number + 1, f"tag{number}") for number in range(50)))
    polls = []

    def truncate_once() -> None:
        polls.append(len(polls))
        if len(polls) == 2:
            for partition in (0, 1):
                memory.truncate(HASHTAG_COUNTS, 15, partition)

    memory.on_poll = truncate_once
    trending = start()
    with pytest.raises(Overtaken):
        trending.tick()
    trending._published_at = 0.0
    trending.tick()
    held = {orjson.loads(event)["hashtag"] for event in memory.events(HASHTAG_COUNTS)}
    assert held <= bucket(client, settings).keys()


@pytest.mark.parametrize("kept_s", [600, 3600])
def test_buckets_that_are_to_be_kept_for_another_time_are_written_again(
    kept_s: int, memory: Memory, client, settings: Settings, ending
) -> None:
    """Those that Redis has let go come back, and those that are there get their new time."""
    now = int(time.time()) // 5 * 5
    publish(memory, count(1, "gone", now - 1000), count(1, "held", now))
    for seconds in (900, kept_s):
        changed = settings.model_copy(update={"rankings_kept_s": seconds})
        ending(Trending(changed, "0", lambda _: memory)).tick()
        assert bucket(client, settings, now) == {"held": 1}
        assert client.expiretime(f"{settings.redis_prefix}bucket:{now}") == now + seconds
        assert bucket(client, settings, now - 1000) == ({"gone": 1} if seconds > 1000 else {})


def test_one_of_two_members_rebuilds(start, memory: Memory, client, settings: Settings) -> None:
    publish(memory, count(1, "a"))
    one, two = start("one"), start("two")
    one.tick()
    marker = client.get(f"{settings.redis_prefix}marker")
    two.handle([count(2, "a")], place)
    assert client.get(f"{settings.redis_prefix}marker") == marker
    assert bucket(client, settings) == {"a": 2}


def parked(memory: Memory) -> list[RejectedEvent]:
    return [msgspec.json.decode(event, type=RejectedEvent) for event in memory.events(REJECTED)]


def test_what_cannot_be_read_is_parked_and_the_rest_ranked(start, memory: Memory, client, settings: Settings) -> None:
    trending = start()
    strange = [count(-1, "a"), b"{", count(1, "b").replace(b'"bucket_start":', b'"bucket_start":"x","y":'),
               count(1).replace(b"bucket", b"total", 1), count(1).replace(b'"bucket"', b'"hashtag"', 1)]
    trending.handle([*strange, count(1, "c")], place)
    assert bucket(client, settings) == {"c": 1}
    assert [event.position for event in parked(memory)] == [f"{HASHTAG_COUNTS}/0/{index}" for index in range(5)]
    assert {(event.reason, event.stage) for event in parked(memory)} == {("unreadable", "trending-consumer")}
    trending.close()
    report = orjson.loads(client.get(f"{settings.redis_prefix}telemetry:ranked:trending-0"))
    assert report["extra"]["parked"] == 5


def test_an_unreadable_event_does_not_stop_a_rebuild(start, memory: Memory, client, settings: Settings) -> None:
    publish(memory, b"[]", count(1, "a"), b"\xff", count(1, "b"))
    start().tick()
    assert bucket(client, settings) == {"a": 1, "b": 1}


OFFSETS = itertools.count(0, 2)


@hypothesis.settings(
    max_examples=200, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(event=spoilt_json(orjson.loads(count(2, "a"))))
def test_no_event_stops_the_consumer(start, memory: Memory, client, settings: Settings, event: bytes) -> None:
    trending, offset = start(), next(OFFSETS)
    before = len(memory.events(REJECTED))
    trending.handle([event, count(1, f"good{offset}")], lambda index: f"0/{offset + index}")
    trending._published_at = 0.0
    trending.tick()
    assert bucket(client, settings)[f"good{offset}"] == 1
    positions = [each.position for each in parked(memory)[before:]]
    assert positions in ([], [f"{HASHTAG_COUNTS}/0/{offset}"])
    trending.close()
