"""Reads a stream of NATS as a member of a consumer group."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping

from middleware.data import Consumer, Position
from middleware.errors import MiddlewareError, Overtaken, StreamReplaced, Unreachable
from middleware.membership import Membership
from middleware.nats.reader import PartitionReader
from middleware.nats.streams import Partition

SLICE_S = 0.2
"""How long to wait in one piece, so that signals are seen."""

log = logging.getLogger(__name__)


class NatsConsumer(Consumer):
    """A partition is read from the group's committed offset as soon as the member holds it, and by nobody else."""

    def __init__(
        self, membership: Membership, partitions: Callable[[], Mapping[int, Partition]],
        reader: Callable[[int, int, Callable[[], None]], PartitionReader], stream: str, group: str, from_head: bool,
    ) -> None:
        """`partitions`: asks what there is; `reader`: of a partition, from a sequence on, with what to call when
        events have come."""
        self._membership, self._partitions, self._open = membership, partitions, reader
        self._stream, self._name, self._from_head = stream, group, from_head
        self.passed_over: dict[int, int] = {}
        self._life = life(partitions())
        self._readers: dict[int, PartitionReader] = {}
        self._offsets: dict[int, int] = {}  # by partition held: events before the next one that is handed out
        self._committed: dict[int, int] = {}
        self._places: list[tuple[int, int]] = []  # partition and offset of what the last poll handed out
        self._came = threading.Event()
        self._turn = 0
        self._checked = 0.0
        self._read_what_is_held()

    def poll(self, max_events: int, timeout: float) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while True:
            self._membership.polled()
            self._look()
            self._came.clear()
            events = self._take(max_events)
            left = deadline - time.monotonic()
            if events or left <= 0:
                return events
            self._came.wait(min(SLICE_S, left))

    def place(self, index: int) -> str:
        partition, offset = self._places[index]
        return f"{partition}/{offset}"

    def has_reached(self, end: Position) -> bool:
        if end.life != self._life:
            raise StreamReplaced.of(self._stream)
        if end.offsets.keys() - self._membership.group.offsets.keys():
            return False  # of partitions that were added nobody reads yet
        return all(at >= end.offsets.get(partition, 0) for partition, at in self._offsets.items())

    def commit(self) -> bool:
        offsets = dict(self._offsets)
        if offsets == self._committed and not self._membership.must_give_away(set(offsets)):
            return True
        held_all = self._membership.commit(offsets)
        self._committed = offsets
        self._read_what_is_held()
        return held_all

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._membership.leave()

    def _take(self, most: int) -> list[bytes]:
        """What has come, of one partition after the other, each time from another one on. Raises Overtaken."""
        events: list[bytes] = []
        self._places = []
        held = sorted(self._readers)
        self._turn += 1
        for turn in range(len(held)):
            partition = held[(self._turn + turn) % len(held)]
            reader, at = self._readers[partition], self._offsets[partition]
            coming = reader.events
            if reader.replaced and not coming and not events:
                raise StreamReplaced.of(self._stream)
            while coming and len(events) < most:
                if coming[0][0] != at + 1:
                    if events:
                        break  # what was taken comes first
                    self._pass(partition, coming[0][0] - 1)
                    at = self._offsets[partition]
                events.append(reader.take())
                self._places.append((partition, at))
                at += 1
            self._offsets[partition] = at
        return events

    def _pass(self, partition: int, head: int) -> None:
        """Goes on at the head, behind what retention took. Raises Overtaken for a group that has a position."""
        at = self._offsets[partition]
        if not self._from_head:
            raise Overtaken.at(f"{self._stream}, group {self._name}", partition, at, head, "events")
        log.warning("%s: events %d to %d of partition %d are gone", self._stream, at, head - 1, partition)
        self._offsets[partition] = self.passed_over[partition] = head

    def _look(self) -> None:
        """Who else is there, and what the streams still hold. Failures are tried again next time. Raises Overtaken."""
        if not self._membership.is_to_look():
            return
        try:
            if self._membership.look():
                self._read_what_is_held()
            found = self._partitions()  # after the group, whose members may have committed what came meanwhile
            if life(found) != self._life:
                raise StreamReplaced.of(self._stream)
            if added := found.keys() - self._membership.group.offsets.keys():
                self._membership.extend(added)
                self._read_what_is_held()
        except Unreachable as error:
            log.info("%s: the group cannot be read: %s", self._stream, error)
            return
        for partition in sorted(self._readers):
            if not self._readers[partition].events and partition in found:
                self._compare(partition, found[partition])

    def _compare(self, partition: int, found: Partition) -> None:
        """Nothing may come any more to tell of what is gone. Raises Overtaken, or MiddlewareError."""
        at = self._offsets[partition]
        if at < found.head:
            self._pass(partition, found.head)
        elif at > found.end:
            raise MiddlewareError(
                f"{self._stream}: partition {partition} ends at offset {found.end}, before the position of "
                f"{self._name}, {at}: the server lost what it had acknowledged"
            )

    def _read_what_is_held(self) -> None:
        held, offsets = self._membership.held(), self._membership.group.offsets
        for partition in self._readers.keys() - held:
            self._readers.pop(partition).close()
            del self._offsets[partition]
        for partition in sorted(held - self._readers.keys()):
            self._offsets[partition] = self._committed[partition] = offsets[partition]
            self._readers[partition] = self._open(partition, offsets[partition] + 1, self._came.set)
        self._committed = {partition: self._committed[partition] for partition in held}


def life(partitions: Mapping[int, Partition]) -> str:
    """Tells a stream from one of the same name that was made after it was deleted."""
    return partitions[0].created
