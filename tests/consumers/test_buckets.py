import json
import time

import pytest
import redis

from common.settings import Settings
from common.tweets import BUCKET_SECONDS, SLOT_US, TOTAL, SlotCount
from consumers.buckets import HASHTAGS_PER_CALL, Buckets
from consumers.ranking import Rankings
from tests.consumers.parts import whole

pytestmark = pytest.mark.server

NOW = int(time.time()) // 5 * 5
KEPT_S = Settings().rankings_kept_s


def test_the_maximum_stays(buckets: Buckets, client: redis.Redis) -> None:
    buckets.raise_counts(whole({NOW: {"a": 3, TOTAL: 9}, NOW - 5: {"a": 1}}), "m")
    buckets.raise_counts(whole({NOW: {"a": 2, "b": 1, TOTAL: 10}}), "m")
    assert client.hgetall(f"t:bucket:{NOW}") == {"a": "3", "b": "1", TOTAL: "10"}
    assert 0 < client.ttl(f"t:bucket:{NOW}") <= KEPT_S


def test_shards_are_added_up_each_by_its_maximum(buckets: Buckets, client: redis.Redis) -> None:
    for count in (3, 1):
        buckets.raise_counts(whole({NOW: {"a": count, TOTAL: 9}}, 2, 0), "m")
        buckets.raise_counts(whole({NOW: {"a": 2, "2:1": count}}, 2, 1), "m")
    assert buckets.changes(0).buckets[NOW] == {"a": 5, TOTAL: 9, "2:1": 3}
    assert client.hgetall(f"t:bucket:{NOW}") == {"a": "5 2:3,2", TOTAL: "9 2:9,0", "2:1": "3 2:0,3"}


@pytest.mark.parametrize("shards", [1, 2, 12, 64])
def test_a_hashtag_takes_one_field_however_many_shards_there_are(
    shards: int, buckets: Buckets, client: redis.Redis
) -> None:
    for shard in range(shards):
        buckets.raise_counts(whole({NOW: {"a": shard + 1}}, shards, shard), "m")
    assert client.hlen(f"t:bucket:{NOW}") == 1
    assert client.keys(f"*{NOW}*") == [f"t:bucket:{NOW}"]
    assert buckets.changes(0).buckets[NOW] == {"a": shards * (shards + 1) // 2}


def test_of_several_numbers_of_shards_the_highest_sum_holds(buckets: Buckets, client: redis.Redis) -> None:
    buckets.raise_counts(whole({NOW: {"a": 4, "b": 1}}), "m")
    buckets.raise_counts(whole({NOW: {"a": 3, "b": 1}}, 2, 0), "m")
    assert buckets.changes(0).buckets[NOW] == {"a": 4, "b": 1}
    buckets.raise_counts(whole({NOW: {"a": 2, "b": 1}}, 2, 1), "m")
    assert buckets.changes(0).buckets[NOW] == {"a": 5, "b": 2}
    buckets.raise_counts(whole({NOW: {"a": 1}}), "m")
    assert buckets.changes(0).buckets[NOW] == {"a": 5, "b": 2}
    buckets.raise_counts(whole({NOW: {"a": 6}}), "m")
    buckets.raise_counts(whole({NOW: {"a": 7}}, 12, 11), "m")
    buckets.raise_counts(whole({NOW: {"a": 3}}, 2, 1), "m")
    assert buckets.changes(0).buckets[NOW] == {"a": 7, "b": 2}
    assert client.hgetall(f"t:bucket:{NOW}") == {"a": "7 2:3,3 12:0,0,0,0,0,0,0,0,0,0,0,7", "b": "2 2:1,1"}


def slot(count: int, number: int, shards: int = 1, shard: int = 0) -> SlotCount:
    return SlotCount(NOW, BUCKET_SECONDS, shards, shard, count, number * SLOT_US, number * SLOT_US)


def test_slots_are_told_to_whoever_does_not_know_them_and_never_fall(buckets: Buckets, client: redis.Redis) -> None:
    assert buckets.raise_slots([], "one") == {}
    assert buckets.raise_slots([slot(3, 17), slot(1, 18, 2, 1)], "one") == {NOW: {}}
    assert buckets.raise_slots([slot(2, 18, 2, 1)], "one") == {}
    known = {(17, 1, 0): 3, (18, 1, 0): 2, (18, 2, 0): 0, (18, 2, 1): 2}
    assert buckets.raise_slots([slot(9, 17)], "other") == {NOW: known}
    assert buckets.raise_slots([slot(4, 17)], "one") == {NOW: {**known, (17, 1, 0): 9}}, "after a standstill"
    assert client.hget(f"t:slots:{NOW}", "17") == "9"
    assert 0 < client.ttl(f"t:slots:{NOW}") <= KEPT_S


def test_many_hashtags_and_old_buckets(buckets: Buckets, client: redis.Redis) -> None:
    tags = {f"tag{number}": number + 1 for number in range(2 * HASHTAGS_PER_CALL + 7)}
    assert buckets.raise_counts(whole({NOW: tags, NOW - KEPT_S - 5: {"old": 1}}), "m")
    assert client.hlen(f"t:bucket:{NOW}") == len(tags)
    assert not client.exists(f"t:bucket:{NOW - KEPT_S - 5}")


@pytest.mark.parametrize("counts", [whole({NOW: {"a": 1}}), {}])
def test_nothing_is_written_after_a_loss(buckets: Buckets, client: redis.Redis, counts) -> None:
    assert buckets.raise_counts(counts, "m")
    client.flushall()
    assert buckets.raise_counts(counts, "m") is None
    assert client.keys() == []


def test_changes_bring_what_changed_since(buckets: Buckets) -> None:
    first = buckets.raise_counts(whole({NOW: {"a": 1}, NOW - 5: {"b": 1}}), "m")
    second = buckets.raise_counts(whole({NOW: {"c": 1}}), "m")
    assert buckets.changes(0) == ("m", second, {NOW: {"a": 1, "c": 1}, NOW - 5: {"b": 1}})
    assert buckets.changes(first) == ("m", second, {NOW: {"a": 1, "c": 1}})
    assert buckets.changes(second) == ("m", second, {})
    buckets.forget([NOW])
    assert buckets.changes(0).buckets == {NOW - 5: {"b": 1}}


def test_one_rebuilds_at_a_time_and_a_loss_meanwhile_is_noticed(buckets: Buckets, client: redis.Redis) -> None:
    client.flushall()
    assert buckets.begin_rebuild("one")
    assert buckets.begin_rebuild("one")  # the same member, restarted
    assert not buckets.begin_rebuild("two")
    assert buckets.rebuild_counts(whole({NOW: {"a": 1}}), "one")
    assert buckets.marker() is None
    client.flushall()
    assert not buckets.rebuild_counts(whole({NOW: {"b": 1}}), "one")
    assert not buckets.end_rebuild("one", "another life")
    assert client.keys() == []


def test_none_rebuilds_what_another_has_just_rebuilt(buckets: Buckets) -> None:
    """Who saw no marker, and asks for the right to rebuild after the other has ended."""
    assert not buckets.begin_rebuild("two")
    assert buckets.marker() == "m"
    assert buckets.begin_rebuild("three") is False, "nobody holds the right"


def test_what_a_rebuild_has_changed_is_complete_at_its_end_only(buckets: Buckets, client: redis.Redis) -> None:
    """One for a shorter time, which is killed: what it has written expires sooner, whatever is set again then."""
    shorter = Buckets(client, "t:", 600)
    assert shorter.marker() is None
    assert shorter.begin_rebuild("one")
    assert shorter.rebuild_counts(whole({NOW: {"a": 1}}), "one")
    assert buckets.marker() is None
    assert client.get("t:kept_s") == str(Settings().rankings_kept_s), "which holds for the others until the end"


def test_the_oldest_bucket_is_the_first_that_has_not_expired(buckets: Buckets, client: redis.Redis) -> None:
    """However long rankings have needed none so old."""
    now = int(time.time()) // 5 * 5
    old, older = now - KEPT_S + 60, now - KEPT_S + 30
    assert buckets.oldest() is None
    buckets.raise_counts(whole({now + 5: {"a": 1}, older: {"a": 1}, old: {"a": 1}, now: {"a": 1}}), "m")
    buckets.forget([old, older])
    assert buckets.oldest() == older
    client.delete(f"t:bucket:{older}")  # as when it expires
    assert buckets.oldest() == old


def test_one_publishes_at_a_time(buckets: Buckets, client: redis.Redis) -> None:
    assert buckets.is_publisher("one")
    assert buckets.is_publisher("one")
    assert not buckets.is_publisher("two")
    client.delete("t:publisher")  # as when it expires
    assert buckets.is_publisher("two")
    assert not buckets.is_publisher("one")


def test_a_published_ranking_is_the_body(buckets: Buckets, client: redis.Redis) -> None:
    rankings = Rankings(limit=5)
    rankings.update(NOW, {"日本": 1, TOTAL: 1})
    rankings.advance(NOW)
    assert buckets.is_publisher("one")
    assert buckets.publish([rankings.ranking("1m")], 7, "one")
    assert json.loads(client.get("t:ranking:1m")) == rankings.ranking("1m")
    assert buckets.visible() == 7
    assert 0 < client.ttl("t:ranking:1m") <= 30


def test_who_stood_still_publishes_nothing_over_newer_rankings(buckets: Buckets, client: redis.Redis) -> None:
    older, newer = Rankings(limit=5), Rankings(limit=5)
    newer.update(NOW, {"a": 1, TOTAL: 1})
    newer.advance(NOW)
    assert buckets.is_publisher("one")
    client.delete("t:publisher")  # as when it expires
    assert not buckets.publish([older.ranking("1m")], 100, "one"), "nobody's turn"
    assert buckets.is_publisher("other")
    assert buckets.publish([newer.ranking("1m")], 200, "other")
    assert not buckets.publish([older.ranking("1m")], 100, "one")
    client.delete("t:publisher")
    assert buckets.is_publisher("one")
    assert not buckets.publish([older.ranking("1m")], 100, "one"), "its turn again, with what it had before"
    assert json.loads(client.get("t:ranking:1m")) == newer.ranking("1m")
    assert buckets.visible() == 200
