"""Reads a stream of Pravega as a member of a consumer group."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

import jpype

from middleware.errors import MiddlewareError, StreamReplaced
from middleware.member import MemberConsumer
from middleware.membership import PAUSE_S, Membership, tried
from middleware.pravega.jvm import pairs

MAX_POLL_BYTES = 4 << 20
FIRST_S = 0.5

HEADER_BYTES = 8
"""What precedes an event in its segment: a type and its length."""

log = logging.getLogger(__name__)


class PravegaConsumer(MemberConsumer):
    """A partition is a segment. One call waits in Java, where Ctrl-C is not seen."""

    def __init__(
        self, reader: Any, membership: Membership, head: Callable[[], dict[int, int]], stream: str, group: str,
        from_head: bool,
    ) -> None:
        """`reader`: a BlockReader; `head`: first offsets that are left."""
        super().__init__(membership, stream, group, from_head)
        self._reader, self._head = reader, head
        self._ended: dict[int, int] = {}  # segments that are sealed and read: where they end
        self._handed_out: list[bytes] = []  # by the last poll
        self._places: list[str] = []  # of these, once somebody asks
        self._read_what_is_held()

    def place(self, index: int) -> str:
        if not self._places:
            events = iter(self._handed_out)
            for segment, offset, count in _triples(self._reader.runs()):
                for event in islice(events, count):
                    self._places.append(f"{segment}/{offset}")
                    offset += HEADER_BYTES + len(event)
        return self._places[index]

    def close(self) -> None:
        self._reader.close()
        self._membership.leave()

    def _life(self) -> str:
        return life(self._membership.group.offsets)

    def _offsets(self) -> dict[int, int]:
        """Where each segment of the share is read on, or has ended."""
        return pairs(self._reader.offsets()) | self._ended

    def _begin(self, partition: int, offset: int) -> None:
        self._reader.open(partition, offset)

    def _stop(self, partition: int) -> None:
        self._reader.closeSegment(partition)
        self._ended.pop(partition, None)

    def _take(self, most: int, seconds: float) -> list[bytes]:
        self._handed_out, self._places = [], []
        try:
            block = bytes(memoryview(self._reader.poll(most, MAX_POLL_BYTES, round(seconds * 1000))))
        except jpype.JException as error:
            self._reopen(error)
        else:
            self._handed_out = _events(block)
        return self._handed_out

    def _reopen(self, error: Any) -> None:
        """Reads a segment on where it failed, or from its head. Raises Overtaken or StreamReplaced."""
        if not isinstance(error, jpype.JClass("murmuration.pravega.BlockReader$SegmentFailed")):
            raise MiddlewareError(f"reading {self._stream} failed: {error}") from error
        segment = int(error.segment)
        offset = pairs(self._reader.offsets())[segment]
        head = self._head_of(segment) if error.forEver else offset
        if offset < head:
            self._pass(segment, head, "bytes")
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

    def _look_at_stream(self) -> None:
        if self._ended and self._ended.keys() - self._head().keys():
            raise StreamReplaced.of(self._stream)


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
