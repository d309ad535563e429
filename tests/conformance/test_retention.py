"""What every middleware tells of its bounds, and of readers that they overtake."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Iterator

import pytest

from middleware.data import Position
from middleware.driver import Middleware
from middleware.errors import Overtaken, UnknownStream
from middleware.registry import connect
from tests.conformance.servers import Servers, operator
from tests.stack import eventually

pytestmark = [pytest.mark.server, pytest.mark.timeout(240)]

GROUP, BOUND = "reader", 4_000_000
AT_ONCE = 16 << 20
"""A ledger of Pulsar, which is made for the bound that the servers were started with."""


@pytest.fixture
def bounded(servers: Servers) -> Iterator[Middleware]:
    """A connection whose streams are bound to few bytes."""
    settings = servers.settings().model_copy(update={"stream_retention_bytes": BOUND})
    with connect(settings) as connection:
        connection.admin.wait_until_ready(60)
        yield connection


@pytest.fixture
def stream(bounded: Middleware) -> str:
    name = f"test-{uuid.uuid4().hex[:12]}"
    bounded.admin.create_stream(name, 2)
    return name


def publish(middleware: Middleware, stream: str, first: int, count: int, size: int = 8) -> None:
    """Numbered events of that size, in order within each of two keys."""
    with middleware.data.producer(stream) as producer:
        for number in range(first, first + count):
            producer.send(f"key-{number % 2}", b"%0*d" % (size, number))


def read(middleware: Middleware, stream: str, count: int, group: str = GROUP) -> list[int]:
    """Commits and returns the numbers of the next events."""
    found: list[int] = []
    with middleware.data.consumer(stream, group) as consumer:
        while len(found) < count:
            events = consumer.poll(count - len(found), timeout=30)
            assert events, f"{len(found)} of {count} events came"
            found += map(int, events)
            consumer.commit()
    return found


def position(middleware: Middleware, stream: str, group: str = GROUP) -> Position:
    committed = middleware.admin.committed(stream, group)
    assert committed
    return committed


def test_a_group_that_truncation_has_overtaken_is_told_and_can_be_moved(bounded: Middleware, stream: str) -> None:
    publish(bounded, stream, 0, 300)
    first = read(bounded, stream, 100)
    stands = position(bounded, stream)
    assert not stands.lies_before(bounded.data.head(stream))
    ahead = read(bounded, stream, 150, group="ahead")
    operator(bounded).truncate(position(bounded, stream, "ahead"))
    head = bounded.data.head(stream)
    assert head == position(bounded, stream, "ahead")
    assert stands.lies_before(head)
    assert (bounded.admin.retention_used(stream, stands) or 0) >= 1

    bounded.admin.move_group(stream, GROUP, stands.moved_to(head))
    assert not position(bounded, stream).lies_before(head)
    left = set(range(300)) - set(first) - set(ahead)  # each may have read more of one partition than of the other
    assert set(read(bounded, stream, len(left))) == left


def test_a_group_is_moved_as_soon_as_its_member_has_left(bounded: Middleware, stream: str) -> None:
    publish(bounded, stream, 0, 10)
    head, left = bounded.data.head(stream), threading.Event()
    consumer = bounded.data.consumer(stream, GROUP)
    assert consumer.poll(10, timeout=30)
    consumer.commit()

    def leave() -> None:
        left.set()
        consumer.close()

    leaving = threading.Timer(1, leave)
    leaving.start()
    bounded.admin.move_group(stream, GROUP, head)
    assert left.is_set()
    leaving.join()
    assert position(bounded, stream) == head
    assert sorted(read(bounded, stream, 10)) == list(range(10))


def test_it_tells_what_a_stream_holds(bounded: Middleware, stream: str) -> None:
    empty, began = bounded.admin.held(stream), time.time()
    assert (empty.holds, empty.oldest_at) == (0, None)
    publish(bounded, stream, 0, 1000, size=1000)
    held = bounded.admin.held(stream)
    assert (held.store, held.bound, held.unit) == (stream, BOUND, "bytes")
    assert 1_000_000 <= (held.holds or 0) <= 1_200_000  # with what the server stores beside an event
    assert held.oldest_at is None or began - 1 <= held.oldest_at <= time.time() + 1


def test_it_tells_when_the_oldest_tweet_of_a_stream_was_sent(bounded: Middleware, stream: str) -> None:
    began_us = time.time_ns() // 1000
    with bounded.data.producer(stream) as producer:
        for number in range(10):
            stamp = {"sent_at_us": began_us + number, "source": "test", "run": "r", "seq": number}
            producer.send(f"key-{number % 2}", json.dumps({"ingest": stamp}).encode())
    assert bounded.admin.held(stream).oldest_at == pytest.approx(began_us / 1e6, abs=30)


def test_the_share_of_the_retention_that_a_reader_has_used(bounded: Middleware, stream: str) -> None:
    publish(bounded, stream, 0, 10)
    read(bounded, stream, 10)
    begin = position(bounded, stream)
    assert bounded.admin.retention_used(stream, begin) == 0
    publish(bounded, stream, 10, 500, size=1000)
    share = bounded.admin.retention_used(stream, begin)
    assert share is not None
    assert 0.11 <= share <= 0.3  # the double, where both keys lie in one partition and each has its own bound
    publish(bounded, stream, 510, 1000, size=1000)
    assert bounded.admin.retention_used(stream, begin) == pytest.approx(3 * share, rel=0.05)
    read(bounded, stream, 1500)
    assert bounded.admin.retention_used(stream, position(bounded, stream)) == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_retention_takes_what_lies_beyond_the_bound(bounded: Middleware, stream: str) -> None:
    """All in one partition, which has half of the bound on some; a server looks once a minute, or with each event."""
    publish(bounded, stream, 0, 1)
    read(bounded, stream, 1)
    stands = position(bounded, stream)
    with bounded.data.producer(stream) as producer:
        for _ in range(300):
            producer.send("key", b"." * 100_000)
    assert (bounded.admin.retention_used(stream, stands) or 0) >= 1

    def overtaken() -> bool:
        time.sleep(2)
        with bounded.data.producer(stream) as producer:
            producer.send("key", b"." * 100_000)
        return stands.lies_before(bounded.data.head(stream))

    eventually("retention takes what lies beyond the bound", overtaken, 300)
    eventually("it holds no more than its bound, and what a server removes at once",
               lambda: (bounded.admin.held(stream).holds or 0) <= BOUND + AT_ONCE, 200)
    assert (bounded.admin.held(stream).holds or 0) >= BOUND / 2 - 2 * 100_000


@pytest.mark.only("pulsar")
def test_who_is_overtaken_by_retention_itself_is_told_as_by_truncation(bounded: Middleware, stream: str) -> None:
    """It removes whole ledgers, while truncation is a mark: whoever reads has to find out by the ledgers."""
    publish(bounded, stream, 0, 10)
    read(bounded, stream, 1)
    with (
        bounded.data.consumer(stream, "live") as live, bounded.data.consumer(stream, "head", start="head") as from_head,
    ):
        assert live.poll(1, timeout=30)
        events, sent = [*map(int, from_head.poll(1, timeout=30))], 10

        def removed() -> bool:
            nonlocal sent
            publish(bounded, stream, sent, 2000, size=1000)
            sent += 2000
            return position(bounded, stream).lies_before(bounded.data.head(stream))

        eventually("retention takes the first ledger", removed, 120)
        with pytest.raises(Overtaken, match=rf"{GROUP}.*published groups.*accept-loss"):
            read(bounded, stream, sent)
        with pytest.raises(Overtaken, match=r"live.*published groups.*accept-loss"):
            list(iter(lambda: live.poll(10_000, timeout=30), []))
        end = bounded.data.end(stream)
        while not from_head.has_reached(end):
            events += map(int, from_head.poll(10_000, timeout=5))
        assert from_head.passed_over
    assert len(events) == len({*events})
    missing, left = {*range(sent)} - {*events}, set[int]()
    with bounded.data.consumer(stream, "left", start="head") as consumer:
        while not consumer.has_reached(end):
            left |= {*map(int, consumer.poll(10_000, timeout=5))}
    assert missing
    assert not missing & left


def test_of_a_group_that_never_was_nothing_is_committed(bounded: Middleware, stream: str) -> None:
    assert bounded.admin.committed(stream, "nobody") is None


def test_bounds_of_a_stream_that_never_was(bounded: Middleware) -> None:
    for ask in (bounded.data.head, bounded.admin.held, lambda name: bounded.admin.committed(name, GROUP)):
        with pytest.raises(UnknownStream):
            ask("never-made")


def test_spark_keeps_a_position_as_a_text(bounded: Middleware, stream: str) -> None:
    publish(bounded, stream, 0, 10)
    read(bounded, stream, 10)
    committed = position(bounded, stream)
    assert bounded.spark.position(stream, bounded.spark.offset(committed)) == committed


@pytest.mark.only("pravega", "nats", "pulsar")
def test_a_place_of_spark_in_a_stream_that_was_made_anew_lies_before_it(
    bounded: Middleware, stream: str, servers: Servers
) -> None:
    """However far the new one has grown."""
    publish(bounded, stream, 0, 10)
    read(bounded, stream, 10)
    noted = bounded.spark.offset(position(bounded, stream))
    servers.operator().delete(stream)
    bounded.admin.create_stream(stream, 2)
    publish(bounded, stream, 0, 100)
    head = bounded.data.head(stream)
    stands = bounded.spark.position(stream, noted)
    assert stands.lies_before(head)
    assert (bounded.admin.retention_used(stream, stands) or 0) >= 1
    moved = bounded.spark.position(stream, bounded.spark.offset(stands.moved_to(head)))
    assert moved.offsets == head.offsets
