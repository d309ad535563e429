"""How the trending consumer rebuilds the rankings from the stream, over a middleware in memory and a real Redis."""

import time

import orjson
import pytest
import redis

from common.settings import Settings
from common.tweets import HASHTAG_COUNTS, TOTAL
from consumers.trending import Trending
from middleware import reread as reread_module
from middleware.errors import Overtaken, Unreachable
from tests.consumers.rankings import (
    bucket,
    count,
    parts,
    place,
    publish,
    report,
    several_shards,
    totals,
)
from tests.memory import Memory

pytestmark = pytest.mark.server


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


def test_an_unreadable_event_does_not_stop_a_rebuild(start, memory: Memory, client, settings: Settings) -> None:
    publish(memory, b"[]", count(1, "a"), b"\xff", count(1, "b"))
    start().tick()
    assert bucket(client, settings) == {"a": 1, "b": 1}
