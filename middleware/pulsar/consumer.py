"""Reads a stream of Pulsar as a member of a consumer group."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial

from middleware.data import Consumer, Position
from middleware.errors import Overtaken, StreamReplaced, UnknownStream, Unreachable
from middleware.membership import Membership
from middleware.pulsar.groups import GroupRecord
from middleware.pulsar.reader import PartitionReader
from middleware.pulsar.streams import Described, Streams

SLICE_S = 0.2
"""How long to wait in one piece, so that signals are seen."""

TURN_S = 0.01
"""How long to wait for one of several partitions."""

log = logging.getLogger(__name__)


class PulsarConsumer(Consumer):
    """A partition is read from the group's committed offset as soon as the member holds it, and by nobody else.

    The client would go on silently behind what retention took. So each event is compared with the one before it, and
    where something may lie in between the broker is asked.
    """

    def __init__(
        self, record: Callable[[], GroupRecord], member: str, streams: Streams, described: Described,
        reader: Callable[[int, int, Described], PartitionReader], stream: str, group: str, from_head: bool,
    ) -> None:
        """`record`: makes one of the group; `described`: the stream; `reader`: of a partition, from an offset on."""
        self._streams, self._open = streams, reader
        self._stream, self._name, self._from_head = stream, group, from_head
        self._records: list[GroupRecord] = []
        try:
            self._membership = Membership(partial(self._another, record), stream, member)
        except BaseException:
            self._close_records()
            raise
        self.passed_over: dict[int, int] = {}
        self._described = described
        self._readers: dict[int, PartitionReader] = {}
        self._committed: dict[int, int] = {}
        self._places: list[tuple[int, int]] = []  # partition and offset of what the last poll handed out
        self._turn = 0
        self._read_what_is_held()

    def poll(self, max_events: int, timeout: float) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while True:
            self._membership.polled()
            self._look()
            events = self._take(max_events)
            left = deadline - time.monotonic()
            if events or left <= 0:
                return events
            self._wait(left)

    def place(self, index: int) -> str:
        partition, offset = self._places[index]
        return f"{partition}/{offset}"

    def has_reached(self, end: Position) -> bool:
        if end.life != self._described.life:
            raise StreamReplaced.of(self._stream)
        if end.offsets.keys() - self._membership.group.offsets.keys():
            return False  # of partitions that were added nobody reads yet
        return all(reader.at >= end.offsets.get(partition, 0) for partition, reader in self._readers.items())

    def commit(self) -> bool:
        offsets = {partition: reader.at for partition, reader in self._readers.items()}
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
        self._close_records()

    def _take(self, most: int) -> list[bytes]:
        """What has come, of one partition after the other, each time from another one on. Raises Overtaken."""
        events: list[bytes] = []
        self._places = []
        held = sorted(self._readers)
        self._turn += 1
        for turn in range(len(held)):
            partition = held[(self._turn + turn) % len(held)]
            reader = self._readers[partition]
            if reader.at < (cut := self._described.cuts.get(partition, 0)):
                if events:
                    continue
                self._pass(partition, cut)
            while len(events) < most and (come := reader.coming()):
                if not reader.follows(come):
                    if events:
                        break  # what was taken comes first
                    self._find_out(partition, reader, come[0])
                    continue
                self._places.append((partition, come[0]))
                events.append(reader.take())
        return events

    def _wait(self, seconds: float) -> None:
        """Until something may have come."""
        if len(self._readers) == 1:
            next(iter(self._readers.values())).wait(min(SLICE_S, seconds))
        elif self._readers:
            held = sorted(self._readers)
            self._readers[held[self._turn % len(held)]].wait(min(TURN_S, seconds))
        else:
            time.sleep(min(SLICE_S, seconds))

    def _find_out(self, partition: int, reader: PartitionReader, offset: int) -> None:
        """Of an event that does not follow the one before it, by what the broker has left. Raises Overtaken."""
        try:
            self._describe()
            found = self._streams.ledgers(self._stream, partition)
        except Unreachable as error:
            log.info("%s: %s", self._stream, error)
            time.sleep(SLICE_S)
            return
        head = self._streams.head(self._described, partition, found)
        if not reader.misses(found, head, offset):
            reader.accept(found)
        elif reader.at < head:
            self._pass(partition, head)
        else:
            log.info("%s: reading partition %d again from offset %d on", self._stream, partition, reader.at)
            reader.open(reader.at)

    def _pass(self, partition: int, head: int) -> None:
        """Goes on at the head, behind what retention took. Raises Overtaken for a group that has a position."""
        reader = self._readers[partition]
        if not self._from_head:
            raise Overtaken(
                f"{self._stream}, group {self._name}: retention removed {reader.told_missing(head)} of partition "
                f"{partition}, offsets {reader.at} to {head - 1}, before they were committed; `murmur accept-loss` "
                "tells what is gone and goes on behind it"
            )
        log.warning("%s: offsets %d to %d of partition %d are gone", self._stream, reader.at, head - 1, partition)
        reader.open(head)
        self.passed_over[partition] = head

    def _look(self) -> None:
        """Who else is there, and what the stream still is. Failures are tried again next time."""
        if not self._membership.is_to_look():
            return
        try:
            self._describe()
            if added := self._described.origins.keys() - self._membership.group.offsets.keys():
                self._membership.extend(added)
                self._read_what_is_held()
            if self._membership.look():
                self._read_what_is_held()
        except UnknownStream:
            raise
        except Unreachable as error:
            log.info("%s: the group cannot be read: %s", self._stream, error)

    def _describe(self) -> None:
        """Raises StreamReplaced, UnknownStream or Unreachable."""
        described = self._streams.describe(self._stream)
        if described.life != self._described.life:
            raise StreamReplaced.of(self._stream)
        self._described = described

    def _read_what_is_held(self) -> None:
        held, offsets = self._membership.held(), self._membership.group.offsets
        for partition in self._readers.keys() - held:
            self._readers.pop(partition).close()
        for partition in sorted(held - self._readers.keys()):
            self._committed[partition] = offsets[partition]
            self._readers[partition] = self._open(partition, offsets[partition], self._described)
        self._committed = {partition: self._committed[partition] for partition in held}

    def _another(self, record: Callable[[], GroupRecord]) -> GroupRecord:
        self._records.append(record())
        return self._records[-1]

    def _close_records(self) -> None:
        """The client would keep their readers and producers until it is closed itself."""
        for record in self._records:
            record.close()
