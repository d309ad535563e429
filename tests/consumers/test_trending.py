"""The handler of the trending consumer, over a middleware in memory and a real Redis."""

import itertools
from functools import partial

import hypothesis
import msgspec
import orjson
import pytest
import redis

from common.settings import Settings
from common.tweets import (
    HASHTAG_COUNTS,
    REJECTED,
    SLOT_US,
    TOTAL,
    RejectedEvent,
)
from consumers.ranking import HORIZON_S
from tests.consumers.events import spoilt_json
from tests.consumers.rankings import (
    NOW,
    bucket,
    count,
    parts,
    place,
    report,
    reported,
    several_shards,
    slot,
    slots,
    totals,
)
from tests.memory import Memory
from tests.stack import eventually

pytestmark = pytest.mark.server

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
