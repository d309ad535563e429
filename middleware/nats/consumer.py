"""Reads a stream of NATS as a member of a consumer group."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from middleware.errors import MiddlewareError, StreamReplaced
from middleware.member import MemberConsumer
from middleware.membership import Membership
from middleware.nats.reader import PartitionReader
from middleware.nats.streams import Partition


class NatsConsumer(MemberConsumer):
    """What is gone, or that the stream is another one, JetStream does not tell: a gap in the sequences does."""

    def __init__(
        self, membership: Membership, partitions: Callable[[], Mapping[int, Partition]],
        reader: Callable[[int, int, Callable[[], None]], PartitionReader], stream: str, group: str, from_head: bool,
    ) -> None:
        """`partitions`: asks what there is; `reader`: of a partition, from a sequence on, with what to call when
        events have come."""
        super().__init__(membership, stream, group, from_head)
        self._partitions, self._open = partitions, reader
        self._created = life(partitions())
        self._readers: dict[int, PartitionReader] = {}
        self._next: dict[int, int] = {}  # by partition that is read: events before the next one that is handed out
        self._places: list[tuple[int, int]] = []  # partition and offset of what the last poll handed out
        self._came = threading.Event()
        self._turn = 0
        self._read_what_is_held()

    def place(self, index: int) -> str:
        partition, offset = self._places[index]
        return f"{partition}/{offset}"

    def _life(self) -> str:
        return self._created

    def _offsets(self) -> Mapping[int, int]:
        return self._next

    def _begin(self, partition: int, offset: int) -> None:
        self._readers[partition] = self._open(partition, offset + 1, self._came.set)
        self._next[partition] = offset

    def _stop(self, partition: int) -> None:
        self._readers.pop(partition).close()
        del self._next[partition]

    def _take(self, most: int, seconds: float) -> list[bytes]:
        self._turn += 1
        self._came.clear()
        events = self._take_ahead(most)
        if not events and self._came.wait(seconds):
            events = self._take_ahead(most)
        return events

    def _take_ahead(self, most: int) -> list[bytes]:
        """What was read ahead, of one partition after the other, each time from another one on. Raises Overtaken."""
        events: list[bytes] = []
        self._places = []
        held = sorted(self._readers)
        for turn in range(len(held)):
            partition = held[(self._turn + turn) % len(held)]
            reader, at = self._readers[partition], self._next[partition]
            coming = reader.events
            if reader.replaced and not coming and not events:
                raise StreamReplaced.of(self._stream)
            while coming and len(events) < most:
                if coming[0][0] != at + 1:
                    if events:
                        break  # what was taken comes first
                    self._go_on_at(partition, coming[0][0] - 1)
                    at = self._next[partition]
                events.append(reader.take())
                self._places.append((partition, at))
                at += 1
            self._next[partition] = at
        return events

    def _look_at_stream(self) -> None:
        found = self._partitions()
        if life(found) != self._created:
            raise StreamReplaced.of(self._stream)
        self._extend(found)
        for partition in sorted(self._readers):
            if not self._readers[partition].events and partition in found:
                self._compare(partition, found[partition])

    def _compare(self, partition: int, found: Partition) -> None:
        """Nothing may come any more to tell of what is gone. Raises Overtaken, or MiddlewareError."""
        at = self._next[partition]
        if at < found.head:
            self._go_on_at(partition, found.head)
        elif at > found.end:
            raise MiddlewareError(
                f"{self._stream}: partition {partition} ends at offset {found.end}, before the position of "
                f"{self._name}, {at}: the server lost what it had acknowledged"
            )

    def _go_on_at(self, partition: int, head: int) -> None:
        self._pass(partition, head, "events")
        self._next[partition] = head


def life(partitions: Mapping[int, Partition]) -> str:
    """Tells a stream from one of the same name that was made after it was deleted."""
    return partitions[0].created
