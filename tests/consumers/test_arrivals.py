import time

import numpy as np

from common.tweets import BUCKET_SECONDS, SLOT_US, TOTAL, BucketCount, HashtagCount, SlotCount
from consumers.arrivals import Arrivals
from consumers.trending import maxima

NOW = int(time.time()) // 5 * 5


def slot(
    count: int, earliest: int, latest: int, start: int = NOW, shards: int = 1, shard: int = 0
) -> SlotCount:
    return SlotCount(start, BUCKET_SECONDS, shards, shard, count, earliest, latest)


def test_new_tweets_are_spread_over_the_time_since_the_last_count() -> None:
    arrivals = Arrivals(7200)
    assert arrivals.add(slot(2, 100, 200), sequence=1) == 2
    assert arrivals.add(slot(6, 100, 400), sequence=2) == 4
    np.testing.assert_array_equal(arrivals.take(visible=1), [150, 200])
    np.testing.assert_array_equal(arrivals.take(visible=5), [250, 300, 350, 400])
    assert not arrivals.waiting()


def test_tweets_count_by_slot() -> None:
    arrivals = Arrivals(7200)
    arrivals.add(slot(1, 10, 10), 1)
    arrivals.add(slot(2, SLOT_US + 10, SLOT_US + 20), 1)
    np.testing.assert_array_equal(arrivals.take(1), [10, SLOT_US + 15, SLOT_US + 20])


def test_stragglers_count_in_their_slot() -> None:
    arrivals = Arrivals(7200)
    arrivals.add(slot(5, 100, 200), 1)
    arrivals.add(slot(7, SLOT_US, SLOT_US + 9), 1)
    arrivals.add(slot(6, 100, 200), 2)
    assert len(arrivals.take(1)) == 12
    np.testing.assert_array_equal(arrivals.take(2), [200])


def test_repeats_and_older_counts_add_nothing() -> None:
    arrivals = Arrivals(7200)
    arrivals.add(slot(5, 100, 200), 1)
    assert arrivals.add(slot(5, 100, 200), 2) == 0
    assert arrivals.add(slot(3, 100, 150), 3) == 0
    assert len(arrivals.take(9)) == 5


def test_shards_are_added_up_each_by_its_maximum() -> None:
    arrivals = Arrivals(7200)
    assert arrivals.add(slot(5, 100, 200, shards=2), 1) == 5
    assert arrivals.add(slot(3, 100, 150, shards=2, shard=1), 1) == 3
    assert arrivals.add(slot(5, 100, 200, shards=2), 1) == 0
    assert arrivals.add(slot(4, 100, 150, shards=2, shard=1), 1) == 1
    assert len(arrivals.take(1)) == 9


def test_of_several_numbers_of_shards_the_highest_sum_holds() -> None:
    """One that counts anew from the head of the stream, 1 → 2 → 1, goes through what is known before it adds to it."""
    arrivals = Arrivals(7200)
    assert arrivals.add(slot(6, 100, 200), 1) == 6
    assert [arrivals.add(slot(n, 100, 200, shards=2), 1) for n in (2, 4)] == [0, 0]
    assert [arrivals.add(slot(n, 100, 200, shards=2, shard=1), 1) for n in (1, 2, 4)] == [0, 0, 2]
    successor = Arrivals(7200)
    successor.learn({NOW: {(0, 1, 0): 8, (0, 2, 0): 4, (0, 2, 1): 4}})
    assert [successor.add(slot(n, 100, 300), 1) for n in (1, 8, 9)] == [0, 0, 1]
    assert successor.add(slot(5, 100, 300, shards=2), 1) == 0


def test_what_a_predecessor_counted_is_not_counted_again() -> None:
    arrivals = Arrivals(7200)
    arrivals.learn({NOW: {(0, 1, 0): 4}})
    arrivals.add(slot(6, 100, 300), 1)
    np.testing.assert_array_equal(arrivals.take(1), [200, 300])
    arrivals.learn({NOW: {(0, 1, 0): 10}})
    assert arrivals.add(slot(11, 100, 300), 1) == 1


def test_after_a_rebuild_what_waits_is_visible_at_once() -> None:
    arrivals = Arrivals(7200)
    arrivals.add(slot(1, 100, 100), 500)
    arrivals.restart()
    assert len(arrivals.take(3)) == 1


def test_old_buckets_are_forgotten() -> None:
    arrivals = Arrivals(7200)
    arrivals.add(slot(1, 1, 1, start=NOW - 100_000), 1)
    arrivals.add(slot(1, 1, 1), 1)
    assert set(arrivals._buckets) == {NOW}


def test_maxima() -> None:
    events = [
        HashtagCount(5, BUCKET_SECONDS, 1, 0, 2, 0, 0, "a"), HashtagCount(5, BUCKET_SECONDS, 1, 0, 1, 0, 0, "a"),
        HashtagCount(10, BUCKET_SECONDS, 1, 0, 1, 0, 0, "a"), BucketCount(10, BUCKET_SECONDS, 1, 0, 3, 0, 0),
        SlotCount(10, BUCKET_SECONDS, 1, 0, 4, 0, 0), HashtagCount(5, BUCKET_SECONDS, 2, 1, 1, 0, 0, "a"),
    ]
    assert maxima(events) == {(5, 1, 0): {"a": 2}, (10, 1, 0): {"a": 1, TOTAL: 3}, (5, 2, 1): {"a": 1}}
