"""Events of an inner stream that a reader cannot read go into `tweets-rejected`: they stop nobody, and are not lost.

All of them do: what bounds them is what bounds that stream, and the part of each event that is kept.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from typing import TypeVar

import msgspec

from common.settings import Settings
from common.tweets import (
    REFUSALS,
    REJECTED,
    REJECTED_EVENT_BYTES,
    Ingest,
    Reader,
    RejectedEvent,
    rejected_event,
    rfc3339,
    to_json,
)
from middleware.data import Position
from middleware.driver import Middleware
from middleware.errors import MiddlewareError
from middleware.registry import connect
from middleware.reread import reread

log = logging.getLogger(__name__)
T = TypeVar("T")

REMEMBERED = 100_000
"""Parked events that are known to be so. One that was forgotten and comes again is parked twice, and counts once."""

LOG_S = 10.0
"""How often the log tells of parked events."""


class _Stamped(msgspec.Struct):
    ingest: Ingest


_stamped = msgspec.json.Decoder(_Stamped).decode


def readable(events: Sequence[bytes], decode: Callable[[bytes], T]) -> tuple[list[T], dict[int, str]]:
    """What `decode` makes of the events, and of those that it refuses, by index, why."""
    try:
        return [decode(event) for event in events], {}
    except REFUSALS:
        pass  # rare: then one by one
    values, refused = [], {}
    for index, event in enumerate(events):
        try:
            values.append(decode(event))
        except REFUSALS as error:
            refused[index] = str(error)
    return values, refused


class Parking:
    """Parks for one reader of one stream, every event once: what it parked in a former life it reads in the stream."""

    def __init__(
        self, settings: Settings, stage: Reader, stream: str, connect: Callable[[Settings], Middleware] = connect
    ) -> None:
        self._settings, self._stage, self._stream, self._connect = settings, stage, stream, connect
        self._parked: dict[tuple[str, str], None] = {}
        """(position, sha256), the oldest first"""
        self._partitions: set[str] = set()
        """Those of whose events it is known which are parked."""
        self._read_to: Position | None = None
        self._untold, self._told_at = 0, float("-inf")

    def park(self, events: Sequence[bytes], refused: Mapping[int, str], place: Callable[[int], str]) -> int:
        """Parks those of `events` that were refused; returns how many were not yet, once they are acknowledged.

        `place` is that of the consumer which read them. Raises MiddlewareError.
        """
        if not refused:
            return 0
        at = {f"{self._stream}/{place(index)}": index for index in refused}
        parked = [self._of(position, events[index]) for position, index in at.items()]
        try:
            new = self._published(parked)
        except MiddlewareError:
            self._partitions.clear()  # they may be there all the same
            raise
        self._remember(new)
        if new:
            self._tell(len(new), new[-1].position, refused[at[new[-1].position]])
        return len(new)

    def _published(self, parked: Sequence[RejectedEvent]) -> list[RejectedEvent]:
        """Publishes those that were not parked before, and returns them."""
        # A connection of its own: joining a group on that of a waiting consumer may block it.
        with self._connect(self._settings) as middleware:
            self._learn(middleware, {event.position.rpartition("/")[0] for event in parked})
            new = [event for event in parked if (event.position, event.sha256) not in self._parked]
            with middleware.data.producer(REJECTED) as producer:
                for event in new:
                    producer.send(event.position, self._as_sent(event))
                producer.flush()
        return new

    def _of(self, position: str, event: bytes) -> RejectedEvent:
        try:
            ingest = _stamped(event).ingest
        except REFUSALS:
            ingest = None
        kept = min(REJECTED_EVENT_BYTES, self._settings.max_event_bytes // 2)
        return RejectedEvent(
            reason="unreadable", event=base64.b64encode(event[:kept]).decode(), bytes=len(event),
            sha256=hashlib.sha256(event).hexdigest(), ingest=ingest, rejected_at=rfc3339(time.time_ns() // 1000),
            stage=self._stage, position=position,
        )

    def _as_sent(self, event: RejectedEvent) -> bytes:
        """Without a stamp that is as long as an event may be."""
        content = to_json(event)
        if len(content) > self._settings.max_event_bytes:
            content = to_json(msgspec.structs.replace(event, ingest=None))
        return content

    def _learn(self, middleware: Middleware, partitions: Collection[str]) -> None:
        """Finds out what was parked already of partitions from which this process parks for the first time.

        Whatever it has read it remembers: of the next ones, and after a failure, only what came since is read.
        """
        if self._partitions.issuperset(partitions):
            return
        end = middleware.data.end(REJECTED)
        with closing(reread(middleware, REJECTED, self._read_to)) as batches:
            for batch in batches:
                self._remember(event for event in readable(batch, rejected_event)[0] if event.stage == self._stage)
        self._read_to = end
        self._partitions.update(partitions)

    def _remember(self, parked: Iterable[RejectedEvent]) -> None:
        self._parked.update(((event.position, event.sha256), None) for event in parked)
        while len(self._parked) > REMEMBERED:
            del self._parked[next(iter(self._parked))]

    def _tell(self, count: int, position: str, why: str) -> None:
        self._untold += count
        if time.monotonic() - self._told_at >= LOG_S:
            log.warning(
                "%d unreadable events are parked in %s; the last is %s: %s", self._untold, REJECTED, position, why
            )
            self._untold, self._told_at = 0, time.monotonic()
