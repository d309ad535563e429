"""What a middleware must offer. One module per middleware implements it; nothing else imports a client."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import ClassVar, Literal, Self

from common.settings import Durability, Settings
from common.storage.held import Held

Start = Literal["committed", "head", "tail"]
"""Where a consumer begins: the group's committed position (the head if there is none), or head or tail regardless."""

MAX_KEY_BYTES = 64 << 10
"""What every middleware takes as a key beside the largest event."""


class MiddlewareError(Exception):
    """Base of what a middleware raises; the message names the way out."""


class Unreachable(MiddlewareError):
    """The server did not answer in time."""


class UnknownStream(MiddlewareError):
    """The stream does not exist."""


class EventTooLarge(MiddlewareError, ValueError):
    """The event exceeds `max_event_bytes`; nothing of it was sent."""


class PublishFailed(MiddlewareError):
    """Events sent since the last successful flush may be lost: publish them again."""


class StreamReplaced(MiddlewareError):
    """The stream was deleted and made anew since the position was taken: the two cannot be compared."""


class Overtaken(MiddlewareError):
    """Retention removed events that the group had not committed. Nobody goes on behind them silently.

    To try again does not help: `murmur accept-loss` tells what is gone and moves the group on.
    """

    @classmethod
    def at(cls, reader: str, partition: int, position: int, head: int, unit: str) -> Self:
        """`reader`: stream and group; `unit`: what an offset counts."""
        return cls(
            f"{reader}: retention removed offsets {position} to {head - 1} of partition {partition} before they were "
            f"committed ({head - position} {unit}); `murmur accept-loss` tells what is gone and goes on behind it"
        )


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


@dataclass(frozen=True)
class SparkBinding:
    """How Spark reads and writes a stream of this middleware.

    The source yields a binary column `event_column`, and where the event stands in `partition_column` and
    `offset_column`. The sink takes `event_column`, `key_column` and `stream_column`
    (the target stream's name, already qualified by `stream_name`). With `repeating_options` on top the sink is at least
    once, and cheaper: for events that may come again without harm. An error of the source with one of `signs_of_loss`
    in its text means that events which it was to read are gone: retention has overtaken the query.
    """

    format: str
    event_column: str
    key_column: str
    stream_column: str
    partition_column: str
    offset_column: str
    read_options: Mapping[str, str] = field(default_factory=dict)
    write_options: Mapping[str, str] = field(default_factory=dict)
    repeating_options: Mapping[str, str] = field(default_factory=dict)
    exactly_once: bool = False
    batch_events: int | None = None
    """What the source bounds a micro-batch by where no setting does; None if it is not by the number of events."""
    initial_offset: tuple[str, str] = ("0", "")
    """Where the source notes at which offset a query began: a file in `sources/0` of its checkpoint, and what stands
    there before the offset."""
    signs_of_loss: tuple[str, ...] = ()


class Closing:
    """Makes `with` close."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


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
    def commit(self) -> None:
        """Stores the position. Call it only when everything polled is durable elsewhere.

        A lower bound: nothing uncommitted is lost, something committed may come again.
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


class Middleware(Closing, ABC):
    """Connection to one stream store."""

    name: str
    acknowledgement: Mapping[str, str]
    """What an acknowledged event is guaranteed, by durability class."""

    asks_durability: ClassVar[bool] = False
    """Whether `durability_in_force` asks the running server; it tells what that was configured with otherwise."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @abstractmethod
    def wait_until_ready(self, timeout: float) -> None:
        """Returns when streams can be created, or raises Unreachable after `timeout` seconds."""

    @abstractmethod
    def create_stream(self, stream: str, partitions: int) -> None:
        """Creates the stream, bounded by `stream_retention_bytes`; does nothing if it exists."""

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
    def end(self, stream: str) -> Position:
        """Where the stream ends now: after the last event that anybody's flush has confirmed.

        Whoever wants "everything so far" fixes it before reading. Raises UnknownStream or Unreachable.
        """

    @abstractmethod
    def forget_group(self, stream: str, group: str) -> None:
        """Removes a group, whose members are closed, and its position; does nothing if there is none."""

    @abstractmethod
    def head(self, stream: str) -> Position:
        """Where the stream begins now: before the first event that retention has left.

        Raises UnknownStream or Unreachable.
        """

    @abstractmethod
    def committed(self, stream: str, group: str) -> Position | None:
        """What the group has committed; None if there is no such group. Raises UnknownStream or Unreachable."""

    @abstractmethod
    def move_group(self, stream: str, group: str, to: Position) -> None:
        """Commits `to` for a group whose members are closed, which it waits for as long as one may be taken for alive.

        Raises MiddlewareError when one is.
        """

    def begin_at(self, stream: str, group: str, place: Position | None) -> bool:
        """Whether a new group begins at this place now: not where retention has passed it, or in another stream."""
        if place is None or place.life != (head := self.head(stream)).life or place.lies_before(head):
            return False
        self.move_group(stream, group, place)
        return True

    @abstractmethod
    def held(self, stream: str) -> Held:
        """What the stream holds, in bytes as the server stores them. Raises UnknownStream or Unreachable."""

    @abstractmethod
    def retention_used(self, stream: str, position: Position) -> float | None:
        """Share of the stream's bound that lies between the position and the end.

        0: all is read; from 1 on the next retention takes events that are not, or the last one has. None where the
        bytes cannot be known. Raises UnknownStream or Unreachable.
        """

    @abstractmethod
    def spark_position(self, stream: str, source_offset: str) -> Position:
        """Reads the offset that Spark keeps of `stream` in a checkpoint. Raises MiddlewareError if it is none."""

    @abstractmethod
    def spark_offset(self, position: Position) -> str:
        """The offset that Spark keeps in a checkpoint for this position."""

    @abstractmethod
    def durability_in_force(self) -> Durability | None:
        """Durability class of the running server, whatever the settings wish for; None where it cannot be asked.

        Raises Unreachable, and UnknownStream as long as the application's streams do not exist.
        """

    @abstractmethod
    def spark(self, stream: str) -> SparkBinding:
        """How Spark reads `stream`, from its head when there is no checkpoint, and how it writes."""

    def stream_name(self, stream: str) -> str:
        """Name of the stream on the server."""
        return stream
