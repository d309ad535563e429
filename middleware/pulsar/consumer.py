"""Reads a stream of Pulsar as a member of a consumer group."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial

from middleware.errors import StreamReplaced, Unreachable
from middleware.member import SLICE_S, MemberConsumer
from middleware.membership import Membership
from middleware.pulsar.groups import GroupRecord
from middleware.pulsar.reader import PartitionReader
from middleware.pulsar.streams import Described, Streams

TURN_S = 0.01
"""How long to wait for one of several partitions."""

log = logging.getLogger(__name__)


class PulsarConsumer(MemberConsumer):
    """The client would go on silently behind what retention took. So each event is compared with the one before it, and
    where something may lie in between the broker is asked."""

    def __init__(
        self, record: Callable[[], GroupRecord], member: str, streams: Streams, described: Described,
        reader: Callable[[int, int, Described], PartitionReader], stream: str, group: str, from_head: bool,
    ) -> None:
        """`record`: makes one of the group; `described`: the stream; `reader`: of a partition, from an offset on."""
        self._records: list[GroupRecord] = []
        try:
            membership = Membership(partial(self._another, record), stream, member)
        except BaseException:
            self._close_records()
            raise
        super().__init__(membership, stream, group, from_head)
        self._streams, self._open, self._described = streams, reader, described
        self._readers: dict[int, PartitionReader] = {}
        self._places: list[tuple[int, int]] = []  # partition and offset of what the last poll handed out
        self._turn = 0
        self._read_what_is_held()

    def place(self, index: int) -> str:
        partition, offset = self._places[index]
        return f"{partition}/{offset}"

    def close(self) -> None:
        super().close()
        self._close_records()

    def _life(self) -> str:
        return self._described.life

    def _offsets(self) -> dict[int, int]:
        return {partition: reader.at for partition, reader in self._readers.items()}

    def _begin(self, partition: int, offset: int) -> None:
        if partition not in self._described.origins:  # another member has added it to the group
            self._describe()
        self._readers[partition] = self._open(partition, offset, self._described)

    def _stop(self, partition: int) -> None:
        self._readers.pop(partition).close()

    def _take(self, most: int, seconds: float) -> list[bytes]:
        self._turn += 1
        events = self._take_in_turn(most)
        if not events and seconds and self._wait(seconds):
            events = self._take_in_turn(most)
        return events

    def _take_in_turn(self, most: int) -> list[bytes]:
        """What has come, of one partition after the other, each time from another one on. Raises Overtaken."""
        events: list[bytes] = []
        self._places = []
        held = sorted(self._readers)
        for turn in range(len(held)):
            partition = held[(self._turn + turn) % len(held)]
            reader = self._readers[partition]
            if reader.at < (cut := self._described.cuts.get(partition, 0)):
                if events:
                    continue
                self._go_on_at(partition, cut)
            while len(events) < most and (come := reader.coming()):
                if not reader.follows(come):
                    if events:
                        break  # what was taken comes first
                    self._find_out(partition, reader, come[0])
                    continue
                self._places.append((partition, come[0]))
                events.append(reader.take())
        return events

    def _wait(self, seconds: float) -> bool:
        """Whether something has come; of several partitions one is waited for."""
        if not self._readers:
            time.sleep(seconds)
            return False
        held = sorted(self._readers)
        return self._readers[held[self._turn % len(held)]].wait(seconds if len(held) == 1 else min(TURN_S, seconds))

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
            self._go_on_at(partition, head)
        else:
            log.info("%s: reading partition %d again from offset %d on", self._stream, partition, reader.at)
            reader.open(reader.at)

    def _go_on_at(self, partition: int, head: int) -> None:
        reader = self._readers[partition]
        self._pass(partition, head, "published groups", reader.told_missing(head))
        reader.open(head)

    def _look_at_stream(self) -> None:
        self._describe()
        self._extend(self._described.origins)

    def _describe(self) -> None:
        """Raises StreamReplaced, UnknownStream or Unreachable."""
        described = self._streams.describe(self._stream)
        if described.life != self._described.life:
            raise StreamReplaced.of(self._stream)
        self._described = described

    def _another(self, record: Callable[[], GroupRecord]) -> GroupRecord:
        self._records.append(record())
        return self._records[-1]

    def _close_records(self) -> None:
        """The client would keep their readers and producers until it is closed itself."""
        for record in self._records:
            record.close()
