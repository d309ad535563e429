"""The data plane: writing events, reading them as a member of a group, and the places between them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from common.closing import Closing
from middleware.errors import EventTooLarge

Start = Literal["committed", "head", "tail"]
"""Where a consumer begins: the group's committed position (the head if there is none), or head or tail regardless."""

MAX_KEY_BYTES = 64 << 10
"""What every middleware takes as a key beside the largest event."""


@dataclass(frozen=True)
class Position:
    """A place in every partition of a stream: all events before it. Only the middleware that made it reads it.

    `life` tells a stream from one of the same name that was made after it was deleted. Partitions that replace others
    have higher numbers.
    """

    stream: str
    life: str
    offsets: Mapping[int, int]

    def is_cut(self) -> bool:
        """Whether a stream that begins here has let go of events."""
        return any(self.offsets.values())

    def lies_before(self, head: Position) -> bool:
        """Whether retention took events that a reader who stands here has not read."""
        return any(offset < head._first(partition) for partition, offset in self.offsets.items())

    def moved_to(self, head: Position) -> Position:
        """Where a reader who stands here goes on: at the head of each partition whose events are gone."""
        kept = {
            partition: max(offset, head.offsets.get(partition, 0)) for partition, offset in self.offsets.items()
            if partition in head.offsets or offset >= head._first(partition)
        }  # fmt: skip
        return Position(self.stream, self.life, {**head.offsets, **kept})

    def _first(self, partition: int) -> float:
        """First offset that this head has of a partition: none of an older one that has ended before it."""
        if partition in self.offsets:
            return self.offsets[partition]
        return math.inf if partition < max(self.offsets, default=0) else 0


def check_size(event: bytes, most: int) -> None:
    """Raises EventTooLarge for an event of more than so many bytes, ValueError for an empty one."""
    if len(event) > most:
        raise EventTooLarge(f"an event of {len(event)} bytes exceeds max_event_bytes, {most}")
    if not event:
        raise ValueError("an event must not be empty: not every middleware can pass it")


class Producer(Closing, ABC):
    """Writes events to one stream; for one thread."""

    @abstractmethod
    def send(self, key: str, event: bytes) -> None:
        """Queues an event; events of one key keep their order. Blocks while too many are in flight.

        A key is any text of at most MAX_KEY_BYTES in UTF-8, an empty one too; halves of surrogate pairs have no UTF-8.
        Raises EventTooLarge, or ValueError for an empty event, and what is queued stays so. Where earlier events could
        not be delivered, raises what `flush` does, or leaves it to that.
        """

    @abstractmethod
    def flush(self) -> None:
        """Returns when every event sent so far is acknowledged; raises PublishFailed or Unreachable otherwise.

        After one of these two, here or in `send`, nothing is queued any more; the producer can be used on.
        """


class Consumer(Closing, ABC):
    """Member of a named group that shares one stream; for one thread."""

    passed_over: Mapping[int, int]
    """By partition, the offset at which retention had a consumer from the head go on, past events that it had not
    handed out; as in `place`. Where it is empty, nothing is missing."""

    @abstractmethod
    def poll(self, max_events: int, timeout: float) -> list[bytes]:
        """Next events, at most `max_events`; empty when none came within `timeout` seconds.

        Raises Overtaken, each time, but never instead of events that were taken already; StreamReplaced; and other
        errors where the member cannot go on, or the servers do not answer.
        """

    @abstractmethod
    def commit(self) -> bool:
        """Stores the position. Call it only when everything polled is durable elsewhere.

        A lower bound: nothing uncommitted is lost, something committed may come again. False, where the shares have
        changed since the events were polled: another member may have been given some of them too. True only where none
        was.
        """

    @abstractmethod
    def place(self, index: int) -> str:
        """Where event `index` of the last poll stands: `partition/offset`, the same whenever and whoever reads it."""

    @abstractmethod
    def has_reached(self, end: Position) -> bool:
        """Whether `poll` has handed out everything before `end` that this member's share still holds.

        What retention removed, and what never was an event (a gap in the offsets), counts as handed out. A share is
        what the member holds now; one without any has reached every end. Raises StreamReplaced.
        """


class DataPlane(ABC):
    """Producers and consumers of streams, and the bounds of these."""

    @abstractmethod
    def producer(self, stream: str) -> Producer:
        """Raises UnknownStream or Unreachable."""

    @abstractmethod
    def consumer(self, stream: str, group: str, member: str = "", start: Start = "committed") -> Consumer:
        """`member` is unique among the live members of the group and stable across restarts of the same process.

        Its share may be kept for a while when it ends, for its successor of the same name; a member without a name
        leaves for good when it is closed. `start` other than committed moves the whole group, so only its first member
        may ask for it. Raises UnknownStream or Unreachable.

        What a group has not committed is its own: where retention was faster, at the start or while a member reads,
        `poll` raises Overtaken, and a group goes on only when somebody has accepted the loss. Who starts at the head
        wants what is there, and not what was: its `poll` goes on at the new head and tells so by `passed_over`.
        """

    @abstractmethod
    def head(self, stream: str) -> Position:
        """Where the stream begins now: before the first event that retention has left.

        Raises UnknownStream or Unreachable.
        """

    @abstractmethod
    def end(self, stream: str) -> Position:
        """Where the stream ends now: after the last event that anybody's flush has confirmed.

        Whoever wants "everything so far" fixes it before reading. Raises UnknownStream or Unreachable.
        """
