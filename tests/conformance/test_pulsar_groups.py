"""Group records on Pulsar, which has no compare and set: they are what `membership.Record` says all the same."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from middleware.driver import Middleware
from tests.conformance.reading import group
from tests.conformance.servers import Servers

pytestmark = [pytest.mark.only("pulsar"), pytest.mark.timeout(240)]


def data(middleware: Middleware) -> Any:
    return middleware.data


def test_a_record_is_replaced_only_as_it_was_read(middleware: Middleware, stream: str) -> None:
    """Not by who was too late before, nor by who has lost its reader since."""
    name, groups = group(), data(middleware).groups
    life = data(middleware).streams.describe(stream).life
    groups.make(life, name, b"0")
    with closing(groups.record(life, name)) as first, closing(groups.record(life, name)) as second:
        assert first.read() == second.read() == b"0"
        assert second.replace(b"1")
        assert not first.replace(b"2")
        assert not first.replace(b"2"), "it has not been read since"
        assert first.read() == b"1"
        assert second.replace(b"3")
        first._leave_off()  # as where the client fails
        assert not first.replace(b"4")
        assert first.read() == second.read() == b"3"
        assert first.replace(b"5")
        assert second.read() == b"5"


@pytest.mark.slow
def test_who_follows_a_group_sees_that_it_was_made_anew(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    name, groups = group(), data(middleware).groups
    life = data(middleware).streams.describe(stream).life
    with servers.connect() as other:
        data(other).groups.make(life, name, b"0")
        with closing(data(other).groups.record(life, name)) as record:
            for version in range(1, 5):
                assert record.read()
                assert record.replace(b"%d" % version)
        assert groups.look(life, name) == b"4"
        data(other).groups.forget(life, name)
        data(other).groups.make(life, name, b"anew")
        assert groups.look(life, name) == b"anew"
        data(other).groups.forget(life, name)
        assert groups.look(life, name) is None


def test_a_closed_consumer_leaves_nothing_open(middleware: Middleware, stream: str) -> None:
    """A process that has many, one after the other, would have more and more readers and producers."""
    name = group()
    life = data(middleware).streams.describe(stream).life
    for _ in range(3):
        with middleware.data.consumer(stream, name) as consumer:
            consumer.poll(1, 0.1)
    topic = f"persistent/murmur/{middleware.settings.namespace}.groups/{life}.{name}"
    stats = data(middleware).streams._rest.get(f"{topic}/stats")
    assert len(stats["subscriptions"]) <= 1, "that of who looks"
    assert not stats["publishers"]
