"""The end of a stream, and whether a consumer has read up to it: asked, never guessed from silence."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Producer as Client

from middleware.data import Consumer, Position
from middleware.driver import Middleware
from middleware.errors import MiddlewareError, StreamReplaced
from middleware.kafka.ports import Port
from middleware.pravega.operator import PravegaOperator
from tests.conformance.reading import group, numbered, publish, read, read_to
from tests.conformance.servers import Servers
from tests.stack import eventually

pytestmark = [pytest.mark.in_memory_too, pytest.mark.timeout(120)]


def test_an_empty_stream_is_read_at_once(middleware: Middleware, stream: str) -> None:
    with middleware.data.consumer(stream, group()) as consumer:
        assert read_to(consumer, middleware.data.end(stream)) == []


def test_the_end_is_reached_although_another_writer_goes_on(middleware: Middleware, stream: str) -> None:
    publish(middleware, stream, numbered(0, 1000))
    end = middleware.data.end(stream)
    events: list[bytes] = []
    with middleware.data.producer(stream) as producer, middleware.data.consumer(stream, group()) as consumer:
        while not consumer.has_reached(end):
            assert len(events) < 2000, "it reads on and on"
            producer.send("k", b"more")
            producer.flush()
            events += consumer.poll(100, timeout=1)
        assert not consumer.has_reached(middleware.data.end(stream))
    assert events[:1000] == numbered(0, 1000)


def test_a_partition_without_events_keeps_nobody_from_the_end(middleware: Middleware, stream: str) -> None:
    publish(middleware, stream, numbered(0, 100), key="one")
    with middleware.data.consumer(stream, group()) as consumer:
        assert read_to(consumer, middleware.data.end(stream)) == numbered(0, 100)


def test_the_end_is_reached_again_from_the_committed_position(middleware: Middleware, stream: str) -> None:
    name = group()
    publish(middleware, stream, numbered(0, 100))
    with middleware.data.consumer(stream, name) as consumer:
        read(consumer, 100)
    with middleware.data.consumer(stream, name) as consumer:
        assert read_to(consumer, middleware.data.end(stream)) == []


def test_each_of_two_members_tells_of_its_own_share(middleware: Middleware, stream: str) -> None:
    name, sent = group(), 0
    with middleware.data.consumer(stream, name, "a") as a, middleware.data.consumer(stream, name, "b") as b:
        events: dict[Consumer, list[bytes]] = {a: [], b: []}

        def poll() -> bool:
            for member, own in events.items():
                own += member.poll(100, timeout=0.2)
                member.commit()
            return all(events.values())

        def both_have_a_share() -> bool:
            nonlocal sent
            with middleware.data.producer(stream) as producer:
                for number in range(sent, sent + 20):
                    producer.send(str(number), b"%d" % number)
                producer.flush()
            sent += 20
            return poll()

        eventually("both have a share", both_have_a_share)
        end = middleware.data.end(stream)
        eventually("both are at the end", lambda: all([poll(), a.has_reached(end), b.has_reached(end)]))
        with middleware.data.producer(stream) as producer:
            for number in range(sent, sent + 100):
                producer.send(str(number), b"%d" % number)
            producer.flush()
        end = middleware.data.end(stream)
        while not a.has_reached(end):
            events[a] += a.poll(100, timeout=0.2)
        assert not b.has_reached(end)
        eventually("the other one is, too", lambda: poll() and b.has_reached(end))
    assert {*events[a], *events[b]} == {*numbered(0, sent + 100)}


def test_an_end_that_was_truncated_is_reached(middleware: Middleware, stream: str, servers: Servers) -> None:
    publish(middleware, stream, numbered(0, 100))
    end = middleware.data.end(stream)
    publish(middleware, stream, numbered(100, 100))
    servers.operator().truncate(middleware.data.end(stream))
    with middleware.data.consumer(stream, group(), start="head") as consumer:
        assert read_to(consumer, end) == []
        publish(middleware, stream, numbered(200, 10))
        assert read_to(consumer, middleware.data.end(stream)) == numbered(200, 10)


def test_an_end_is_reached_although_the_stream_was_scaled_after_it(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    """By who reads it already, and by who comes later; whether either goes on behind the scale is another matter."""
    publish(middleware, stream, numbered(0, 100), key="one")
    publish(middleware, stream, numbered(100, 100), key="another")
    end = middleware.data.end(stream)
    with middleware.data.consumer(stream, group()) as reading:
        events = read(reading, 10, most=10)
        servers.operator().scale(stream, 4)
        with middleware.data.producer(stream) as producer:
            for number in range(200, 300):
                producer.send(str(number), b"%d" % number)
            producer.flush()
        assert {*numbered(0, 200)} <= {*events, *read_to(reading, end)}
    with middleware.data.consumer(stream, group()) as consumer:
        assert {*numbered(0, 200)} <= {*read_to(consumer, end)}


def test_a_new_group_begins_at_an_end_that_was_found_earlier(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    publish(middleware, stream, numbered(0, 100))
    place, name = middleware.data.end(stream), group()
    publish(middleware, stream, numbered(100, 50))
    assert middleware.begin_at(stream, name, place)
    with middleware.data.consumer(stream, name) as consumer:
        assert read_to(consumer, middleware.data.end(stream)) == numbered(100, 50)
    servers.operator().truncate(middleware.data.end(stream))
    eventually("retention has passed it", lambda: not middleware.begin_at(stream, group(), place))


def test_a_stream_that_was_made_anew_is_another_one(middleware: Middleware, stream: str, servers: Servers) -> None:
    """Told to whoever comes with an old end, or with a new one to an old reader, and to who waits for more events."""
    publish(middleware, stream, numbered(0, 100))
    old = middleware.data.end(stream)
    awaited = Position(stream, old.life, {partition: offset + 10_000 for partition, offset in old.offsets.items()})
    with middleware.data.consumer(stream, group()) as reading:
        read(reading, 100)
        servers.operator().delete(stream)
        middleware.admin.create_stream(stream, 2)
        with middleware.data.consumer(stream, group()) as consumer, pytest.raises(StreamReplaced, match=stream):
            consumer.has_reached(old)
        with pytest.raises(StreamReplaced, match=stream):
            reading.has_reached(middleware.data.end(stream))
        with pytest.raises(StreamReplaced, match=stream):
            read_to(reading, awaited)


def test_an_event_has_one_place_whoever_reads_it(middleware: Middleware, stream: str) -> None:
    with middleware.data.producer(stream) as producer:
        for number in range(500):
            producer.send(str(number), b"%d" % number + b"." * (number % 77))
        producer.flush()
    found: list[dict[bytes, str]] = []
    for most in (500, 7):
        places: dict[bytes, str] = {}
        with middleware.data.consumer(stream, group()) as consumer:
            while len(places) < 500:
                events = consumer.poll(most, timeout=10)
                places |= {event: consumer.place(index) for index, event in enumerate(events)}
        found.append(places)
    assert found[0] == found[1]
    assert len({*found[0].values()}) == 500
    partitions = {str(at) for at in middleware.data.end(stream).offsets}
    assert {place.split("/")[0] for place in found[0].values()} == partitions


@pytest.mark.only("pravega")
def test_a_place_is_an_offset_in_the_segment(middleware: Middleware, stream: str, servers: Servers) -> None:
    """A truncation at the place of an event leaves it as the first one; events that were sent as one, too."""
    middleware.admin.create_stream(single := f"{stream}-single", 1)
    publish(middleware, single, numbered(0, 100))
    with middleware.data.consumer(single, group()) as consumer:
        assert consumer.poll(100, timeout=10) == numbered(0, 100)
        segment, offset = map(int, consumer.place(42).split("/"))
    end = middleware.data.end(single)
    servers.operator().truncate(Position(single, end.life, {segment: offset}))
    with middleware.data.consumer(single, group()) as consumer:
        assert read_to(consumer, end) == numbered(42, 58)


@pytest.mark.only("kafka")
def test_offsets_without_an_event_are_passed_over(middleware: Middleware, stream: str, servers: Servers) -> None:
    """Marks of transactions, and what was aborted: between events, and at the end, where no event follows."""
    topic = middleware.spark.stream_name(stream)
    client = Client({
        "bootstrap.servers": servers.settings().address(Port.BROKER), "transactional.id": topic, "linger.ms": 0,
    })
    client.init_transactions(30)
    for number in range(6):
        client.begin_transaction()
        for partition in (0, 1):
            client.produce(topic, b"%d" % number, partition=partition)
        client.flush(30)
        if number % 2:
            client.abort_transaction(30)
        else:
            client.commit_transaction(30)
    eventually("all transactions have ended", lambda: sum(middleware.data.end(stream).offsets.values()) == 24)
    end = middleware.data.end(stream)
    with middleware.data.consumer(stream, group()) as consumer:
        assert sorted(read_to(consumer, end)) == [b"0", b"0", b"2", b"2", b"4", b"4"]
    with middleware.data.consumer(stream, group()) as consumer:
        assert sorted(read_to(consumer, end, most=1)) == [b"0", b"0", b"2", b"2", b"4", b"4"]


@pytest.mark.only("kafka")
def test_a_transaction_that_goes_on_is_not_before_the_end(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    topic = middleware.spark.stream_name(stream)
    client = Client({"bootstrap.servers": servers.settings().address(Port.BROKER), "transactional.id": topic})
    client.init_transactions(30)
    client.begin_transaction()
    client.produce(topic, b"not yet", partition=0)
    client.flush(30)
    with middleware.data.consumer(stream, group()) as consumer:
        before = middleware.data.end(stream)
        assert read_to(consumer, before) == []
        client.commit_transaction(30)
        eventually("it has ended", lambda: middleware.data.end(stream) != before)
        assert read_to(consumer, middleware.data.end(stream)) == [b"not yet"]


@pytest.mark.only("pravega")
def test_a_stream_that_was_scaled_has_no_end_that_consumers_could_reach(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    servers.operator().scale(stream, 4)
    with pytest.raises(MiddlewareError, match="scaled"):
        middleware.data.end(stream)


@pytest.mark.only("pravega")
def test_a_sealed_segment_is_not_opened_again(middleware: Middleware, stream: str, servers: Servers) -> None:
    operator, name = servers.operator(), group()
    assert isinstance(operator, PravegaOperator)
    publish(middleware, stream, numbered(0, 100))
    end = middleware.data.end(stream)
    operator.seal(stream)
    with middleware.data.consumer(stream, name) as consumer:
        assert read_to(consumer, end) == numbered(0, 100)
        assert consumer.poll(1, timeout=3) == []  # learns of the seal
        consumer._reader = reader = Recorded(consumer._reader)  # type: ignore[attr-defined]
        assert consumer.poll(1, timeout=3) == []
        assert "open" not in reader.called
        assert consumer.has_reached(end)
        consumer.commit()
    with middleware.data.consumer(stream, name) as consumer:
        assert read_to(consumer, end) == []


class Recorded:
    """Hands on to another object, and notes what was called."""

    def __init__(self, other: Any) -> None:
        self._other, self.called = other, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.called.add(name)
        return getattr(self._other, name)
