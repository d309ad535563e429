"""Writing and reading as the conformance tests do it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable

import pytest

from middleware.data import Consumer, Position
from middleware.driver import Middleware
from tests.stack import ROOT


def skip_on_that_of_the_tests(middleware: Middleware, why: str) -> None:
    """For what the middleware of tests/plugin, which is a simple one, does not do."""
    if (ROOT / "tests/plugin/middleware" / middleware.settings.middleware).exists():
        pytest.skip(f"the middleware of the tests {why}")


def publish(middleware: Middleware, stream: str, events: Iterable[bytes], key: str = "k") -> None:
    with middleware.data.producer(stream) as producer:
        for event in events:
            producer.send(key, event)
        producer.flush()


def numbered(first: int, count: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + count)]


def read(consumer: Consumer, count: int, most: int = 1000, commit: bool = True, timeout: float = 60) -> list[bytes]:
    """At least `count` events, and what else came with them; fails when they do not come."""
    events: list[bytes] = []
    deadline = time.monotonic() + timeout
    while len(events) < count:
        assert time.monotonic() < deadline, f"{len(events)} of {count} events came"
        polled = consumer.poll(most, timeout=1)
        assert len(polled) <= most
        events += polled
        if commit:
            consumer.commit()
    return events


def read_to(consumer: Consumer, end: Position, most: int = 1000, timeout: float = 60) -> list[bytes]:
    """What the consumer hands out until it has reached the end; fails when it never does."""
    events: list[bytes] = []
    deadline = time.monotonic() + timeout
    while not consumer.has_reached(end):
        assert time.monotonic() < deadline, f"not at the end after {len(events)} events"
        events += consumer.poll(most, timeout=0.2)
    return events


def group() -> str:
    return f"g-{uuid.uuid4().hex[:8]}"
