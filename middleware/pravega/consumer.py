"""Reads a stream of Pravega as a member of a consumer group."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

import jpype

from middleware.data import Consumer, Position
from middleware.errors import MiddlewareError, Overtaken, StreamReplaced, Unreachable
from middleware.membership import PAUSE_S, Membership, tried
from middleware.pravega.jvm import pairs

MAX_POLL_BYTES = 4 << 20
FIRST_S = 0.5

SLICE_S = 0.2
"""How long one call waits in Java, where Ctrl-C is not seen."""

HEADER_BYTES = 8
"""What precedes an event in its segment: a type and its length."""

log = logging.getLogger(__name__)


class PravegaConsumer(Consumer):
    """A segment is read from the group's committed offset as soon as the member holds it, and by nobody else."""

    def __init__(
        self, reader: Any, membership: Membership, head: Callable[[], dict[int, int]], stream: str, group: str,
        from_head: bool,
    ) -> None:
        """`reader`: a BlockReader; `head`: first offsets that are left."""
        self._reader, self._membership, self._head = reader, membership, head
        self._stream, self._name = stream, group
        self._from_head = from_head
        self.passed_over: dict[int, int] = {}
        self._committed: dict[int, int] = {}
        self._ended: dict[int, int] = {}  # segments that are sealed and read: where they end
        self._handed_out: list[bytes] = []  # by the last poll
        self._places: list[str] = []  # of these, once somebody asks
        self._read_what_is_held()

    def poll(self, max_events: int, timeout: float) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while True:
            self._membership.polled()
            self._look()
            left = min(SLICE_S, deadline - time.monotonic())
            self._handed_out, self._places = self._take(max_events, max(0.0, left)), []
            if self._handed_out or time.monotonic() >= deadline:
                return self._handed_out

    def place(self, index: int) -> str:
        if not self._places:
            events = iter(self._handed_out)
            for segment, offset, count in _triples(self._reader.runs()):
                for event in islice(events, count):
                    self._places.append(f"{segment}/{offset}")
                    offset += HEADER_BYTES + len(event)
        return self._places[index]

    def has_reached(self, end: Position) -> bool:
        if end.life != life(self._membership.group.offsets):
            raise StreamReplaced.of(self._stream)
        return all(at >= end.offsets[segment] for segment, at in self._offsets().items())

    def _offsets(self) -> dict[int, int]:
        """Where each segment of the share is read on, or has ended."""
        return pairs(self._reader.offsets()) | self._ended

    def commit(self) -> bool:
        offsets = self._offsets()
        if offsets == self._committed and not self._membership.must_give_away(set(offsets)):
            return True
        held_all = self._membership.commit(offsets)
        self._committed = offsets
        self._read_what_is_held()
        return held_all

    def close(self) -> None:
        self._reader.close()
        self._membership.leave()

    def _take(self, max_events: int, timeout: float) -> list[bytes]:
        try:
            block = bytes(memoryview(self._reader.poll(max_events, MAX_POLL_BYTES, round(timeout * 1000))))
        except jpype.JException as error:
            self._reopen(error)
            return []
        return _events(block)

    def _reopen(self, error: Any) -> None:
        """Reads a segment on where it failed, or from its head. Raises Overtaken or StreamReplaced."""
        if not isinstance(error, jpype.JClass("murmuration.pravega.BlockReader$SegmentFailed")):
            raise MiddlewareError(f"reading {self._stream} failed: {error}") from error
        segment = int(error.segment)
        offset = pairs(self._reader.offsets())[segment]
        head = self._head_of(segment) if error.forEver else offset
        if offset < head:
            if not self._from_head:
                raise Overtaken.at(f"{self._stream}, group {self._name}", segment, offset, head, "bytes")
            log.warning("%s: bytes %d to %d of segment %d are gone", self._stream, offset, head - 1, segment)
            self.passed_over[segment] = head
        elif isinstance(error.getCause(), jpype.JClass("io.pravega.client.segment.impl.EndOfSegmentException")):
            log.info("%s: segment %d is sealed, and read", self._stream, segment)
            self._reader.closeSegment(segment)
            self._ended[segment] = offset
            return
        else:
            log.info("%s: reading segment %d again: %s", self._stream, segment, error)
            time.sleep(PAUSE_S)
        self._reader.open(segment, max(offset, head))

    def _head_of(self, segment: int) -> int:
        """Offset of the first event that is left. Raises StreamReplaced."""
        head = tried(f"finding the first event of {self._stream}", self._head)
        if segment not in head:
            raise StreamReplaced.of(self._stream)
        return head[segment]

    def _look(self) -> None:
        """Takes what of this member's share is free. Failures are tried again next time."""
        if not self._membership.is_to_look():
            return
        try:
            if self._ended and self._ended.keys() - self._head().keys():
                raise StreamReplaced.of(self._stream)
            if self._membership.look():
                self._read_what_is_held()
        except Unreachable as error:
            log.info("%s: the group cannot be read: %s", self._stream, error)

    def _read_what_is_held(self) -> None:
        reading, offsets = self._offsets(), self._membership.group.offsets
        held = self._membership.held()
        for segment in reading.keys() - held:
            self._reader.closeSegment(segment)
            self._ended.pop(segment, None)
        for segment in sorted(held - reading.keys()):
            self._reader.open(segment, offsets[segment])
            self._committed[segment] = offsets[segment]
        self._committed = {segment: self._committed[segment] for segment in held}


def first_events(reader: Any, head: Mapping[int, int], end: Mapping[int, int]) -> Iterator[bytes]:
    """Of each segment that has one, if it can be read within FIRST_S."""
    for segment, offset in head.items():
        if offset < end[segment]:
            reader.open(segment, offset)
            with suppress(jpype.JException):  # retention takes it just now
                yield from _events(bytes(memoryview(reader.poll(1, MAX_POLL_BYTES, round(FIRST_S * 1000)))))
            reader.closeSegment(segment)


def _events(block: bytes) -> list[bytes]:
    events, at, end = [], 0, len(block)
    while at < end:
        began = at + 4
        at = began + int.from_bytes(block[at:began], "big")
        events.append(block[began:at])
    return events


def _triples(flat: Iterable[int]) -> Iterable[tuple[int, int, int]]:
    """Segment, offset of the first event and number of events from Java's long[] of runs."""
    numbers = [int(number) for number in flat]
    return zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)


def life(segments: Iterable[int]) -> str:
    """Tells a stream from one of the same name: Pravega goes on numbering segments when it is deleted and made anew."""
    return ",".join(map(str, sorted(segments)))
