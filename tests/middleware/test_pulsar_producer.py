"""What a producer on Pulsar waits for: each group that the client was given, which tells of it in whichever thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import pulsar
import pytest

from common.settings import Settings
from middleware.errors import PublishFailed
from middleware.partitioning import partition_of
from middleware.pulsar.producer import MAX_GROUP_BYTES, MAX_GROUP_EVENTS, TOLD_BYTES, PulsarProducer

pytestmark = pytest.mark.timeout(60)


class Client:
    """The client's producer of a partition, and the one below it: tells of groups in turn as `results` has it, of
    failures in the caller's thread."""

    def __init__(self, *results: pulsar.Result) -> None:
        self._producer = self
        self._results = [*results]
        self._group: list[bytes] = []
        self.groups: list[list[bytes]] = []

    def send_async(self, event: bytes, told: Callable[[pulsar.Result, Any], None] | None, partition_key: str) -> None:
        if not isinstance(event, bytes):
            raise TypeError("no bytes")
        if told and len(event) > 2 * TOLD_BYTES:
            told(pulsar.Result.MessageTooBig, None)
        else:
            self._group.append(event)

    def flush_async(self, told: Callable[[pulsar.Result], None]) -> None:
        self.groups.append(self._group)
        self._group = []
        result = self._results.pop(0) if self._results else pulsar.Result.Ok
        if result == pulsar.Result.Ok:
            threading.Thread(target=told, args=(result,)).start()
        else:
            told(result)

    def close(self) -> None:
        pass


def producer(*clients: Client) -> PulsarProducer:
    return PulsarProducer(lambda: cast(Any, [*clients]), Settings.load(), "stream")


def test_a_group_ends_where_its_bounds_say_and_at_a_flush() -> None:
    client = Client()
    with producer(client) as sender:
        for _ in range(MAX_GROUP_EVENTS + 1):
            sender.send("key", b"event")
        sender.flush()
        sender.flush()
        large = b"x" * TOLD_BYTES
        for _ in range(MAX_GROUP_BYTES // TOLD_BYTES):
            sender.send("key", large)
    assert [len(group) for group in client.groups] == [
        MAX_GROUP_EVENTS, 1, MAX_GROUP_BYTES // TOLD_BYTES - 1, 1]


def test_an_event_that_the_client_does_not_take_is_not_waited_for() -> None:
    with producer(Client()) as sender:
        with pytest.raises(TypeError):
            sender.send("key", cast(Any, "text"))
        sender.send("key", b"event")
        sender.flush()


def test_an_event_that_is_too_large_for_the_server_is_told() -> None:
    with producer(Client()) as sender:
        sender.send("key", b"x" * (2 * TOLD_BYTES + 1))
        with pytest.raises(PublishFailed, match="stream: MessageTooBig"):
            sender.flush()


def test_it_goes_on_once_the_failure_of_one_partition_was_told() -> None:
    one, other = (next(key for key in "abcdef" if partition_of(key.encode(), 2) == n) for n in (0, 1))
    with producer(Client(), Client(pulsar.Result.AlreadyClosed)) as sender:
        sender.send(one, b"1")
        sender.send(other, b"2")
        with pytest.raises(PublishFailed, match="stream: AlreadyClosed"):
            sender.flush()
        sender.send(other, b"3")
        sender.flush()
