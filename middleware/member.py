"""Reads a stream as a member of a group, where the application keeps the group itself: the store has none."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping

from middleware.data import Consumer, Position
from middleware.errors import Overtaken, StreamReplaced, Unreachable
from middleware.membership import Membership

SLICE_S = 0.2
"""How long to wait in one piece, so that signals are seen and the group is looked at."""

log = logging.getLogger(__name__)


class MemberConsumer(Consumer):
    """A partition is read from the group's committed offset as soon as the member holds it, and by nobody else.

    Whoever inherits calls `_read_what_is_held` once it can read.
    """

    def __init__(self, membership: Membership, stream: str, group: str, from_head: bool) -> None:
        self._membership, self._stream, self._name, self._from_head = membership, stream, group, from_head
        self.passed_over: dict[int, int] = {}
        self._committed: dict[int, int] = {}

    def poll(self, max_events: int, timeout: float) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while True:
            self._membership.polled()
            self._look()
            events = self._take(max_events, max(0.0, min(SLICE_S, deadline - time.monotonic())))
            if events or time.monotonic() >= deadline:
                return events

    def has_reached(self, end: Position) -> bool:
        if end.life != self._life():
            raise StreamReplaced.of(self._stream)
        offsets = self._offsets()
        if end.offsets.keys() - self._membership.group.offsets.keys() or self._membership.held() - offsets.keys():
            return False  # of partitions that were added, or that could not be opened
        return all(at >= end.offsets.get(partition, 0) for partition, at in offsets.items())

    def commit(self) -> bool:
        offsets = dict(self._offsets())
        if offsets == self._committed and not self._membership.must_give_away(set(offsets)):
            return True
        held_all = self._membership.commit(offsets)
        self._committed = offsets
        self._read_what_is_held()
        return held_all

    def close(self) -> None:
        for partition in list(self._offsets()):
            self._stop(partition)
        self._membership.leave()

    @abstractmethod
    def _life(self) -> str:
        """Of the stream that is read, as positions have it."""

    @abstractmethod
    def _offsets(self) -> Mapping[int, int]:
        """By partition that is read: before the next event that is handed out."""

    @abstractmethod
    def _begin(self, partition: int, offset: int) -> None:
        """Reads a partition from an offset on, or raises Unreachable and does not."""

    @abstractmethod
    def _stop(self, partition: int) -> None:
        """Reads a partition no more."""

    @abstractmethod
    def _take(self, most: int, seconds: float) -> list[bytes]:
        """What has come, or comes within about so many seconds. Raises as `poll` does."""

    @abstractmethod
    def _look_at_stream(self) -> None:
        """What the stream is by now. Raises as `poll` does, and Unreachable."""

    def _look(self) -> None:
        """Now and then: who else is there, and then the stream, whose end lies behind what others have committed.
        Failures are tried again next time."""
        if not self._membership.is_to_look():
            return
        try:
            if self._membership.look():
                self._read_what_is_held()
            self._look_at_stream()
        except Unreachable as error:
            log.info("%s: the group cannot be read: %s", self._stream, error)

    def _extend(self, partitions: Iterable[int]) -> None:
        """Has the group read those of the stream's partitions that were added, and this member its share of them."""
        if added := set(partitions) - self._membership.group.offsets.keys():
            self._membership.extend(added)
            self._membership.look()
            self._read_what_is_held()

    def _read_what_is_held(self) -> None:
        held, offsets = self._membership.held(), self._membership.group.offsets
        reading = set(self._offsets())
        for partition in reading - held:
            self._stop(partition)
        for partition in sorted(held - reading):
            self._begin(partition, offsets[partition])
            self._committed[partition] = offsets[partition]
        self._committed = {partition: self._committed[partition] for partition in held}

    def _pass(self, partition: int, head: int, unit: str, count: str = "") -> None:
        """Notes that reading goes on at the head, behind what retention took; `unit` and `count` as of `Overtaken.at`.
        Raises Overtaken for a group that has a position."""
        at = self._offsets()[partition]
        if not self._from_head:
            raise Overtaken.at(f"{self._stream}, group {self._name}", partition, at, head, unit, count)
        log.warning("%s: offsets %d to %d of partition %d are gone", self._stream, at, head - 1, partition)
        self.passed_over[partition] = head
