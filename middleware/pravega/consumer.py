"""Reads a stream of Pravega as a member of a consumer group."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, TypeVar

import jpype

from middleware.data import Consumer, Position
from middleware.errors import MiddlewareError, Overtaken, StreamReplaced, Unreachable
from middleware.pravega.group import Group, Superseded
from middleware.pravega.jvm import pairs, raising
from middleware.pravega.lease import Lease

MAX_POLL_BYTES = 4 << 20
FIRST_S = 0.5

SLICE_S = 0.2
"""How long one call waits in Java, where Ctrl-C is not seen."""

LOOK_S = 1.0
"""How often a member looks who else is there."""

RETRY_S, PAUSE_S = 60.0, 0.3
"""How long a call is tried while the servers are away."""

HEADER_BYTES = 8
"""What precedes an event in its segment: a type and its length."""

log = logging.getLogger(__name__)
T = TypeVar("T")


class PravegaConsumer(Consumer):
    """A segment is read from the group's committed offset as soon as the member holds it, and by nobody else."""

    def __init__(
        self, reader: Any, record: Callable[[], Any], head: Callable[[], dict[int, int]], stream: str, group: str,
        member: str, from_head: bool,
    ) -> None:
        """`reader`: a BlockReader; `record`: makes a GroupRecord of the group, which exists; `head`: first offsets that
        are left."""
        self._reader, self._record, self._head = reader, record(), head
        self._stream, self._name, self._member, self._life = stream, group, member, uuid.uuid4().hex
        self._from_head = from_head
        self.passed_over: dict[int, int] = {}
        self._committed: dict[int, int] = {}
        self._ended: dict[int, int] = {}  # segments that are sealed and read: where they end
        self._handed_out: list[bytes] = []  # by the last poll
        self._places: list[str] = []  # of these, once somebody asks
        self._group = self._replace(lambda group: group.join(self._member, self._life, time.time()))
        self._looked = time.monotonic()
        self._lease = Lease(record(), self._member, self._life)
        self._read_what_is_held()

    def poll(self, max_events: int, timeout: float) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while True:
            self._lease.polled()
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
        if end.life != life(self._group.offsets):
            raise self._replaced()
        return all(at >= end.offsets[segment] for segment, at in self._offsets().items())

    def _offsets(self) -> dict[int, int]:
        """Where each segment of the share is read on, or has ended."""
        return pairs(self._reader.offsets()) | self._ended

    def _replaced(self) -> StreamReplaced:
        return StreamReplaced(f"{self._stream} was deleted and made anew: what was read of the old one tells nothing")

    def commit(self) -> bool:
        offsets = self._offsets()
        given_away = self._group.held(self._member) and set(offsets) - self._group.share(self._member)
        if offsets == self._committed and not given_away:
            return True
        held_all = False

        def change(group: Group) -> None:
            nonlocal held_all
            held_all = group.commit(self._member, self._life, offsets, time.time())

        self._group = self._replace(change, self._group)
        self._committed = offsets
        self._lease.renewed()
        self._read_what_is_held()
        return held_all

    def close(self) -> None:
        """Leaves the group, so that others need not wait for the lease to end; as well as the servers allow."""
        self._lease.close()
        self._reader.close()
        try:
            self._update(self._read(), lambda group: group.leave(self._member, self._life))
        except MiddlewareError as error:
            log.warning("leaving the group of %s: %s", self._stream, error)

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
        head = self._tried("finding the first event", self._head)
        if segment not in head:
            raise self._replaced()
        return head[segment]

    def _look(self) -> None:
        """Takes what of this member's share is free, and prolongs its lease. Failures are tried again next time."""
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        try:
            group = self._read()
            if self._ended and self._ended.keys() - self._head().keys():
                raise self._replaced()
            own = group.members.get(self._member)
            settled = own is not None and own.life == self._life and not group.free_for(self._member, time.time())
            if settled and not self._lease.is_due():
                self._group = group
                return
            renewed = self._update(group, lambda seen: seen.renew(self._member, self._life, time.time()))
        except Unreachable as error:
            log.info("%s: the group cannot be read: %s", self._stream, error)
            return
        if renewed:
            self._group = renewed
            self._lease.renewed()
            self._read_what_is_held()

    def _read_what_is_held(self) -> None:
        reading = self._offsets()
        held = set(self._group.held(self._member))
        for segment in reading.keys() - held:
            self._reader.closeSegment(segment)
            self._ended.pop(segment, None)
        for segment in sorted(held - reading.keys()):
            self._reader.open(segment, self._group.offsets[segment])
            self._committed[segment] = self._group.offsets[segment]
        self._committed = {segment: self._committed[segment] for segment in held}

    def _replace(self, change: Callable[[Group], None], group: Group | None = None) -> Group:
        """Applies a change to the group's record, whoever else changes it; `group`: the record as last seen."""
        while True:
            seen = group or self._tried("reading the group", self._read)
            group = None
            if changed := self._tried(
                    "changing the group", lambda seen=seen: self._update(seen, change)):  # type: ignore[misc]
                return changed

    def _read(self) -> Group:
        with raising(Unreachable, f"cannot read the group of {self._stream}"):
            record = self._record.read()
        if record is None:
            raise MiddlewareError(f"the group of {self._stream} was removed while a member reads")
        return Group.from_bytes(bytes(record))

    def _update(self, group: Group, change: Callable[[Group], None]) -> Group | None:
        """The changed group, or None if somebody else was faster."""
        try:
            change(group)
        except Superseded as error:
            raise MiddlewareError(f"{self._stream}: {error}") from error
        with raising(Unreachable, f"cannot change the group of {self._stream}"):
            return group if self._record.replace(group.to_bytes()) else None

    def _tried(self, what: str, call: Callable[[], T]) -> T:
        deadline = time.monotonic() + RETRY_S
        while True:
            try:
                return call()
            except Unreachable as error:
                if time.monotonic() > deadline:
                    raise
                log.info("%s of %s: %s; trying again", what, self._stream, error)
                time.sleep(PAUSE_S)


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
