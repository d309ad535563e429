"""Reads a stream of files as a member of a group. The server knows the member's share, and what it has handed out."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import Any

from middleware.data import Consumer, Position, Start
from middleware.errors import MiddlewareError, Overtaken, StreamReplaced, Unreachable
from middleware.files.connection import Connection

log = logging.getLogger(__name__)

SLICE_S = 0.5
"""How long one request waits for events."""

RETRY_S, PAUSE_S = 60.0, 0.2
"""How long the server is looked for while it is away, and how often."""


class FilesConsumer(Consumer):
    """With its connection a member loses its share, and begins anew at what was committed."""

    def __init__(self, connection: Connection, stream: str, group: str, start: Start) -> None:
        self._connection, self._stream, self._group, self._from_head = connection, stream, group, start == "head"
        self.passed_over: dict[int, int] = {}
        self._handed_out: list[tuple[int, int, bytes]] = []  # by the last poll: partition, offset, event
        self._away_since: float | None = None
        try:
            self._life = self._join(start)
        except BaseException:
            connection.close()
            raise

    def poll(self, max_events: int, timeout: float) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while True:
            answer = self._asked("poll", max_events, max(0.0, min(SLICE_S, deadline - time.monotonic())))
            self._handed_out, gone = answer or ([], [])
            for partition, position, head in gone:
                self._learn(partition, position, head)
            if self._handed_out or time.monotonic() >= deadline:
                return [event for _, _, event in self._handed_out]

    def place(self, index: int) -> str:
        partition, offset, _ = self._handed_out[index]
        return f"{partition}/{offset}"

    def has_reached(self, end: Position) -> bool:
        if end.life != self._life:
            raise StreamReplaced.of(self._stream)
        offsets = self._asked("offsets")
        return offsets is not None and all(offset >= end.offsets.get(at, 0) for at, offset in offsets.items())

    def commit(self) -> bool:
        """Where the server is away nothing is stored: the events come again."""
        return bool(self._asked("commit"))

    def close(self) -> None:
        with suppress(MiddlewareError):
            self._connection.ask("leave")
        self._connection.close()

    def _learn(self, partition: int, position: int, head: int) -> None:
        """Of events that are gone. Raises Overtaken, unless others came in the same answer."""
        if self._from_head:
            log.warning("%s: bytes %d to %d of partition %d are gone", self._stream, position, head - 1, partition)
            self.passed_over[partition] = head
        elif not self._handed_out:
            raise Overtaken.at(f"{self._stream}, group {self._group}", partition, position, head, "bytes")

    def _join(self, start: Start) -> str:
        return self._connection.ask("join", self._stream, self._group, start, self._from_head)

    def _asked(self, request: str, *arguments: Any) -> Any:
        """The answer; None where the server is away, which is borne for a while. Raises MiddlewareError."""
        try:
            if self._away_since and self._join("committed") != self._life:
                raise StreamReplaced.of(self._stream)
            answer = self._connection.ask(request, *arguments)
        except Unreachable as error:
            now = time.monotonic()
            self._away_since = self._away_since or now
            if now - self._away_since > RETRY_S:
                raise
            log.info("%s: %s", self._stream, error)
            time.sleep(PAUSE_S)
            return None
        self._away_since = None
        return answer
