"""Writes to a stream of Pravega."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from common.settings import Settings
from middleware.data import Producer, check_size
from middleware.errors import MiddlewareError, PublishFailed
from middleware.pravega.jvm import raising

MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES = 10_000, 64 << 20
"""What was sent and is not yet acknowledged; a group may always be. The client keeps it in Java's heap."""

MAX_GROUP_EVENTS, MAX_GROUP_BYTES = 2_000, 2 << 20
"""What a published group has at most, with its keys; one event it may always have."""

SLICE_MS = 200
"""How long one call waits in Java, where Ctrl-C is not seen."""

_lengths = struct.Struct(">ii").pack


class PravegaProducer(Producer):
    """Hands events to the client in groups of `publish_group_ms`: a group costs the servers about as much as an event.

    A group leaves when its time is over and the next event comes, or at `flush`.
    """

    def __init__(self, open_writer: Callable[[], Any], settings: Settings, stream: str) -> None:
        """`open_writer` makes a BlockWriter, or raises MiddlewareError."""
        self._open_writer = open_writer
        self._writer: Any = open_writer()
        self._stream = stream
        self._max_event_bytes = settings.max_event_bytes
        self._group_s = settings.publish_group_ms / 1000
        self._group: list[bytes] = []  # not empty where an interrupt ended its handing over
        self._group_bytes = 0
        self._group_ends = 0.0

    def send(self, key: str, event: bytes) -> None:
        check_size(event, self._max_event_bytes)
        routing_key = key.encode()
        framed = _lengths(len(routing_key), len(event)) + routing_key + event
        if self._group_bytes + len(framed) > MAX_GROUP_BYTES:
            self._hand_over()
        now = time.monotonic()
        if not self._group:
            self._group_ends = now + self._group_s
        self._group.append(framed)
        self._group_bytes += len(framed)
        if now >= self._group_ends or len(self._group) >= MAX_GROUP_EVENTS:
            self._hand_over()

    def flush(self) -> None:
        """As long as the server is away the client looks for it, for about two minutes."""
        self._hand_over()
        if self._writer is None:  # it failed, and nothing was sent since
            return
        with self._writing() as writer:
            writer.push()
            while not writer.flush(SLICE_MS):
                pass
            failure = writer.failure()
            if failure is not None:
                raise PublishFailed(f"Pravega did not take the events of {self._stream}: {failure}")

    def _hand_over(self) -> None:
        """Blocks while too much is in flight. What failed is known at `flush`."""
        if not self._group:
            return
        block = b"".join(self._group)
        with self._writing() as writer:
            np.frombuffer(writer.room(len(block)), np.uint8)[:] = np.frombuffer(block, np.uint8)
            while not writer.offer(len(block), len(self._group), SLICE_MS):
                pass
        self._begin_group()

    def _begin_group(self) -> None:
        self._group, self._group_bytes = [], 0

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        """The writer, a new one after a failure: one that failed is closed, which ends its thread and connections."""
        try:
            if self._writer is None:
                self._writer = self._open_writer()
            with raising(PublishFailed, f"Pravega did not take the events of {self._stream}"):
                yield self._writer
        except MiddlewareError:
            self._begin_group()  # whoever is told of the failure sends it again
            failed, self._writer = self._writer, None
            if failed is not None:
                failed.close()
            raise

    def close(self) -> None:
        try:
            self.flush()
        finally:
            if self._writer is not None:
                self._writer.close()
