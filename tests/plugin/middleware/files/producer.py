"""Writes to a stream of files."""

from __future__ import annotations

import logging
import time

from middleware.data import Producer, check_size
from middleware.errors import MiddlewareError, PublishFailed, Unreachable
from middleware.files.connection import Connection

log = logging.getLogger(__name__)

MAX_GROUP_EVENTS, MAX_GROUP_BYTES = 2_000, 4 << 20
DELIVERY_SECONDS, RETRY_SECONDS = 120.0, 0.2
"""How long a group is tried to be delivered, and how often. One whose acknowledgement was lost comes twice."""


class FilesProducer(Producer):
    """One group of events is in flight, at most: `send` waits for it where it is full, or its time is over."""

    def __init__(self, connection: Connection, stream: str, max_event_bytes: int, group_s: float) -> None:
        self._connection, self._stream = connection, stream
        self._max_event_bytes, self._group_s = max_event_bytes, group_s
        self._group: list[tuple[bytes, bytes]] = []
        self._bytes, self._group_ends = 0, 0.0

    def send(self, key: str, event: bytes) -> None:
        check_size(event, self._max_event_bytes)
        now = time.monotonic()
        if not self._group:
            self._group_ends = now + self._group_s
        self._group.append((key.encode(), event))
        self._bytes += len(event)
        if now >= self._group_ends or len(self._group) >= MAX_GROUP_EVENTS or self._bytes >= MAX_GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        group, self._group, self._bytes = self._group, [], 0
        deadline = time.monotonic() + DELIVERY_SECONDS
        while group:
            try:
                return self._connection.ask("append", self._stream, group)
            except Unreachable as error:
                if time.monotonic() > deadline:
                    raise PublishFailed(f"the files did not take the events of {self._stream}: {error}") from error
                log.info("%s; trying again", error)
            except MiddlewareError as error:
                raise PublishFailed(f"the files did not take the events of {self._stream}: {error}") from error
            time.sleep(RETRY_SECONDS)

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._connection.close()
