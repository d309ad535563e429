"""Writes to a stream of Pulsar."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pulsar

from common.settings import Settings
from middleware.data import Producer
from middleware.errors import EventTooLarge, PublishFailed
from middleware.partitioning import partition_of

MAX_GROUP_EVENTS, MAX_GROUP_BYTES = 2_000, 2 << 20
"""What a published group has at most, without the keys."""

LONG_KEY, LONG_KEYS_BYTES = 256, 1 << 20
"""Keys go into a published group beside its events. So many bytes of long ones end it, for the broker to take it."""

MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES = 10_000, 64 << 20
DELIVERY_SECONDS = 120
"""How long an event is tried to be delivered, from `send` on. Whose acknowledgement was lost comes twice."""

FULL_SECONDS = 0.002
"""How often it is looked whether there is room again."""


def options(settings: Settings) -> dict[str, Any]:
    """Of the client's producer of a partition: every one that decides on groups, since its defaults send at once."""
    return {
        "batching_enabled": True,
        "batching_type": pulsar.BatchingType.Default,
        "batching_max_messages": MAX_GROUP_EVENTS,
        "batching_max_allowed_size_in_bytes": MAX_GROUP_BYTES,
        "batching_max_publish_delay_ms": settings.publish_group_ms,
        "max_pending_messages": 2 * MAX_IN_FLIGHT,  # never reached
        "block_if_queue_full": False,
        "send_timeout_millis": DELIVERY_SECONDS * 1000,
    }


class PulsarProducer(Producer):
    """One of the client's producers for each partition: that of a key is chosen here, as in every other client."""

    def __init__(self, open_all: Callable[[], list[pulsar.Producer]], settings: Settings, stream: str) -> None:
        """`open_all` makes those of all partitions, or raises MiddlewareError."""
        self._open_all = open_all
        self._producers = open_all()
        self._stream, self._max_event_bytes = stream, settings.max_event_bytes
        self._sent = self._sent_bytes = 0
        self._done = self._done_bytes = 0
        self._counting = threading.Lock()  # of these two: whom the client refuses at once it tells in `send`'s thread
        self._long_keys = 0
        self._failure: pulsar.Result | None = None

    def send(self, key: str, event: bytes) -> None:
        """What failed is known at `flush`."""
        if len(event) > self._max_event_bytes:
            raise EventTooLarge(f"an event of {len(event)} bytes exceeds max_event_bytes, {self._max_event_bytes}")
        if not event:
            raise ValueError("an event must not be empty: not every middleware can pass it")
        encoded = key.encode()
        if not self._producers:
            self._producers = self._open_all()
        while (self._sent - self._done >= MAX_IN_FLIGHT
               or self._sent_bytes - self._done_bytes + len(event) > max(MAX_IN_FLIGHT_BYTES, len(event))):
            time.sleep(FULL_SECONDS)
        if self._failure is not None:
            return
        producer = self._producers[partition_of(encoded, len(self._producers))]
        self._sent += 1
        self._sent_bytes += len(event)
        try:
            producer.send_async(event, partial(self._acknowledged, len(event)), partition_key=key)
        except BaseException:  # the client never had it, and tells nothing of it
            self._sent -= 1
            self._sent_bytes -= len(event)
            raise
        if len(encoded) > LONG_KEY:
            self._long_keys += len(encoded)
            if self._long_keys > LONG_KEYS_BYTES:
                self._send_groups()

    def flush(self) -> None:
        if self._sent > self._done:
            self._send_groups()
        while self._sent > self._done:  # bounded by DELIVERY_SECONDS
            time.sleep(FULL_SECONDS)
        if failure := self._failure:
            self._failure = None
            self._close_all()
            raise PublishFailed(f"Pulsar did not take the events of {self._stream}: {failure.name}")

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._close_all()

    def _send_groups(self) -> None:
        """At once; without a connection they are sent as soon as there is one."""
        self._long_keys = 0
        for producer in self._producers:
            if producer.is_connected():
                with suppress(pulsar.PulsarException):  # each event tells by itself
                    producer.flush()

    def _acknowledged(self, size: int, result: pulsar.Result, place: Any) -> None:
        """Or not; in a thread of the client, or where it is sent."""
        with self._counting:
            if result != pulsar.Result.Ok and self._failure is None:
                self._failure = result
            self._done_bytes += size
            self._done += 1

    def _close_all(self) -> None:
        producers, self._producers = self._producers, []
        for producer in producers:
            with suppress(pulsar.PulsarException):
                producer.close()
