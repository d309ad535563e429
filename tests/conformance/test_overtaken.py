"""Retention that is faster than a reader: nobody jumps behind it unless it was told to."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from middleware.data import Position
from middleware.driver import Middleware
from middleware.errors import Overtaken
from tests.conformance.reading import group, numbered, publish, read, read_to
from tests.conformance.servers import Servers

pytestmark = [pytest.mark.in_memory_too, pytest.mark.timeout(180)]

FAR_AHEAD = 150
"""Events of a megabyte: more than a client reads ahead."""


def large(numbers: Iterable[int]) -> Iterable[bytes]:
    return (b"%d " % number + b"." * 1_000_000 for number in numbers)


def number(event: bytes) -> int:
    return int(event.split()[0])


def test_a_group_without_a_position_begins_at_what_is_left(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    publish(middleware, stream, numbered(0, 100))
    servers.operator().truncate(middleware.data.end(stream))
    publish(middleware, stream, numbered(100, 10))
    with middleware.data.consumer(stream, group()) as consumer:
        assert read(consumer, 10) == numbered(100, 10)
        assert not consumer.passed_over


def test_a_group_is_told_what_retention_took_while_nobody_read(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    """Every time, also to the next member; the group stays where it is until it is moved."""
    name = group()
    publish(middleware, stream, numbered(0, 100))
    with middleware.data.consumer(stream, name) as consumer:
        assert read(consumer, 10, most=10) == numbered(0, 10)
    servers.operator().truncate(middleware.data.end(stream))
    publish(middleware, stream, numbered(100, 10))
    for _ in range(2):
        with middleware.data.consumer(stream, name) as consumer:
            for _ in range(2):
                with pytest.raises(Overtaken, match=rf"(?s){stream}.*{name}.*accept-loss"):
                    read(consumer, 1)
    with middleware.data.consumer(stream, name, start="head") as consumer:
        assert read(consumer, 10) == numbered(100, 10)
        assert not consumer.passed_over


def test_a_member_is_told_that_retention_was_faster(middleware: Middleware, stream: str, servers: Servers) -> None:
    """After all that it had read ahead, in order and without a gap."""
    publish(middleware, stream, large(range(FAR_AHEAD)))
    with middleware.data.consumer(stream, group()) as consumer:
        events = read(consumer, 1, most=1)
        servers.operator().truncate(middleware.data.end(stream))
        publish(middleware, stream, [b"-1"])
        with pytest.raises(Overtaken, match="accept-loss"):
            events.extend(itertools.chain.from_iterable(iter(lambda: consumer.poll(10, timeout=10), None)))
    assert [number(event) for event in events] == [*range(len(events))]


@pytest.mark.slow
def test_who_reads_from_the_head_goes_on_behind_retention(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    publish(middleware, stream, large(range(FAR_AHEAD)))
    first_end = middleware.data.end(stream)
    with middleware.data.consumer(stream, group(), start="head") as consumer:
        events = read(consumer, 1, most=1)
        servers.operator().truncate(first_end)
        publish(middleware, stream, [b"-1"])
        events += read_to(consumer, middleware.data.end(stream), most=10)
        assert consumer.has_reached(first_end)
        assert consumer.passed_over
        assert consumer.passed_over.items() <= middleware.data.head(stream).offsets.items()
    *read_ahead, last = (number(event) for event in events)
    assert read_ahead == [*range(len(read_ahead))]
    assert last == -1


@pytest.mark.slow
@pytest.mark.parametrize("overtaken", [0, 1])
def test_of_other_partitions_nothing_is_skipped(
    middleware: Middleware, stream: str, servers: Servers, overtaken: int
) -> None:
    """Retention takes the events of one of the two partitions while a member reads both."""
    with middleware.data.producer(stream) as producer:
        for at in range(20_000):
            producer.send(str(at), b"%d " % at + b"." * 500)
        producer.flush()
    end = middleware.data.end(stream)
    partition, at_the_end = sorted(end.offsets.items())[overtaken]
    events: list[bytes] = []
    with middleware.data.consumer(stream, group(), start="head") as consumer:
        come: set[str] = set()
        while len(come) < 2:
            events += (polled := consumer.poll(1, timeout=10))
            come |= {consumer.place(index).split("/")[0] for index in range(len(polled))}
        servers.operator().truncate(Position(stream, end.life, dict.fromkeys(end.offsets, 0) | {partition: at_the_end}))
        events += read_to(consumer, end, most=10_000)
    with middleware.data.consumer(stream, group(), start="head") as consumer:
        left = read_to(consumer, end, most=10_000)
    assert 0 < len(left) < 20_000
    assert {*left} <= {*events}
