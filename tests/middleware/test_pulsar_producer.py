"""What a producer on Pulsar waits for: what the client has taken, and tells of, in whichever thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import pulsar
import pytest

from common.settings import Settings
from middleware.errors import PublishFailed
from middleware.pulsar.producer import PulsarProducer

pytestmark = pytest.mark.timeout(60)


class Client:
    """The client's producer of a partition: tells of every other event in a thread of its own."""

    def __init__(self) -> None:
        self._sent = 0

    def send_async(self, event: bytes, told: Callable[[pulsar.Result, Any], None], partition_key: str) -> None:
        if not isinstance(event, bytes):
            raise TypeError("no bytes")
        self._sent += 1
        if self._sent % 2:
            threading.Thread(target=told, args=(pulsar.Result.Ok, None)).start()
        else:
            told(pulsar.Result.AlreadyClosed, None)

    def is_connected(self) -> bool:
        return False

    def close(self) -> None:
        pass


def producer() -> PulsarProducer:
    return PulsarProducer(lambda: [cast(Any, Client())], Settings.load(), "stream")


def test_an_event_that_the_client_does_not_take_is_not_waited_for() -> None:
    with producer() as sender:
        with pytest.raises(TypeError):
            sender.send("key", cast(Any, "text"))
        sender.send("key", b"event")
        sender.flush()


def test_it_goes_on_once_a_failure_was_told() -> None:
    with producer() as sender:
        sender.send("key", b"1")
        sender.send("key", b"2")
        with pytest.raises(PublishFailed, match="stream: AlreadyClosed"):
            sender.flush()
        sender.send("key", b"3")
        sender.flush()
