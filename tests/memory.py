"""A middleware in the memory of the test: for delicate logic above it, in milliseconds. It can be told to misbehave."""

from __future__ import annotations

import json
import uuid
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from common.settings import Durability, Settings
from common.storage.held import Held
from middleware.admin import Admin
from middleware.data import Consumer, DataPlane, Position, Producer, Start, check_size
from middleware.driver import Middleware
from middleware.errors import (
    MiddlewareError,
    Overtaken,
    PublishFailed,
    StreamReplaced,
    UnknownStream,
    Unreachable,
)
from middleware.spark import SparkBinding, SparkStreams


@dataclass
class Partition:
    """Events from offset `head` on; an offset is the number of events before."""

    events: list[bytes] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    head: int = 0

    @property
    def end(self) -> int:
        return self.head + len(self.events)

    def truncate(self, offset: int) -> None:
        gone = max(0, offset - self.head)
        self.events, self.keys, self.head = self.events[gone:], self.keys[gone:], max(self.head, offset)


@dataclass
class Log:
    """One stream, with the committed offsets and the members, in the order of joining, of each of its groups."""

    partitions: list[Partition]
    life: str = field(default_factory=lambda: uuid.uuid4().hex)
    groups: dict[str, dict[int, int]] = field(default_factory=dict)
    members: dict[str, list[MemoryConsumer]] = field(default_factory=dict)


class Memory(Middleware):
    """`logs` is what the servers hold: connections that share it are connections to the same servers.

    `down`: nobody answers. `flush_failures`: how many of the next flushes fail, each after the events were `taken` or
    not. `on_poll` is called before each poll, so that a test can do something in the middle of a read.
    """

    def __init__(self, settings: Settings, logs: dict[str, Log] | None = None) -> None:
        super().__init__(settings, MemoryData(self), MemoryAdmin(self), MemorySpark(self))
        self.logs = {} if logs is None else logs
        self.down = False
        self.flush_failures: deque[bool] = deque()
        """Whether the events of that flush were taken all the same."""
        self.on_poll: Callable[[], None] = lambda: None

    def delete_stream(self, stream: str) -> None:
        del self.logs[stream]

    def add_partitions(self, stream: str, partitions: int) -> None:
        """Up to so many; what keys come to then depends on it."""
        found = self.logs[stream].partitions
        found += [Partition() for _ in range(partitions - len(found))]

    def truncate(self, stream: str, offset: int, partition: int = 0) -> None:
        """Retention: events before `offset` are gone."""
        self.logs[stream].partitions[partition].truncate(offset)

    def events(self, stream: str) -> list[bytes]:
        """All that the stream holds, partition by partition."""
        return [event for partition in self.logs[stream].partitions for event in partition.events]

    def log(self, stream: str) -> Log:
        self.answer()
        if stream not in self.logs:
            raise UnknownStream(f"no stream {stream!r}")
        return self.logs[stream]

    def answer(self) -> None:
        if self.down:
            raise Unreachable("the memory is down")


class MemoryData(DataPlane):
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def producer(self, stream: str) -> Producer:
        self._memory.log(stream)
        return MemoryProducer(self._memory, stream)

    def consumer(self, stream: str, group: str, member: str = "", start: Start = "committed") -> Consumer:
        log = self._memory.log(stream)
        if start != "committed" or group not in log.groups:
            tail = start == "tail"
            log.groups[group] = {n: part.end if tail else part.head for n, part in enumerate(log.partitions)}
        return MemoryConsumer(self._memory, stream, group, from_head=start == "head")

    def head(self, stream: str) -> Position:
        log = self._memory.log(stream)
        return Position(stream, log.life, {n: part.head for n, part in enumerate(log.partitions)})

    def end(self, stream: str) -> Position:
        log = self._memory.log(stream)
        return Position(stream, log.life, {n: part.end for n, part in enumerate(log.partitions)})


class MemoryAdmin(Admin):
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def wait_until_ready(self, timeout: float) -> None:
        self._memory.answer()

    def create_stream(self, stream: str, partitions: int) -> None:
        self._memory.answer()
        self._memory.logs.setdefault(stream, Log([Partition() for _ in range(partitions)]))

    def committed(self, stream: str, group: str) -> Position | None:
        log = self._memory.log(stream)
        return Position(stream, log.life, dict(log.groups[group])) if group in log.groups else None

    def move_group(self, stream: str, group: str, to: Position) -> None:
        log = self._memory.log(stream)
        if log.members.get(group):
            raise MiddlewareError(f"the group {group} of {stream} has members")
        log.groups[group] = dict(to.offsets)

    def forget_group(self, stream: str, group: str) -> None:
        self._memory.log(stream).groups.pop(group, None)

    def held(self, stream: str) -> Held:
        holds = sum(map(len, self._memory.events(stream)))
        return Held(stream, holds, self._memory.settings.stream_retention_bytes, "bytes")

    def retention_used(self, stream: str, position: Position) -> float | None:
        unread = sum(
            len(event) for n, part in enumerate(self._memory.log(stream).partitions)
            for event in part.events[max(0, position.offsets.get(n, 0) - part.head) :]
        )
        share = unread / self._memory.settings.stream_retention_bytes
        return max(1.0, share) if position.lies_before(self._memory.data.head(stream)) else share

    def durability_in_force(self) -> Durability | None:
        return self._memory.settings.durability


class MemorySpark(SparkStreams):
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def binding(self, stream: str) -> SparkBinding:
        raise NotImplementedError("Spark cannot read the memory of a test")

    def position(self, stream: str, source_offset: str) -> Position:
        life = self._memory.log(stream).life
        return Position(stream, life, {int(n): at for n, at in json.loads(source_offset).items()})

    def offset(self, position: Position) -> str:
        return json.dumps(position.offsets)


class MemoryOperator:
    """What retention does, or an operator."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def truncate(self, to: Position) -> None:
        for partition, offset in to.offsets.items():
            self._memory.truncate(to.stream, offset, partition)

    def delete(self, stream: str) -> None:
        self._memory.delete_stream(stream)

    def scale(self, stream: str, partitions: int) -> None:
        self._memory.add_partitions(stream, partitions)


class MemoryProducer(Producer):
    def __init__(self, memory: Memory, stream: str) -> None:
        self._memory, self._stream = memory, stream
        self._sent: list[tuple[str, bytes]] = []

    def send(self, key: str, event: bytes) -> None:
        check_size(event, self._memory.settings.max_event_bytes)
        key.encode()
        self._sent.append((key, event))

    def flush(self) -> None:
        sent, self._sent = self._sent, []
        taken = self._memory.flush_failures.popleft() if self._memory.flush_failures else None
        if self._memory.down:
            raise PublishFailed("the memory is down")
        if taken is not False:
            partitions = self._memory.log(self._stream).partitions
            for key, event in sent:
                partition = partitions[zlib.crc32(key.encode()) % len(partitions)]
                partition.keys.append(key)
                partition.events.append(event)
        if taken is not None:
            raise PublishFailed("the memory did not confirm")

    def close(self) -> None:
        if self._sent:
            self.flush()


class MemoryConsumer(Consumer):
    """Every n-th partition is the share of one of n members. Shares change at the next poll of each."""

    def __init__(self, memory: Memory, stream: str, group: str, from_head: bool) -> None:
        self._memory, self._stream, self._group, self._from_head = memory, stream, group, from_head
        self._life = memory.log(stream).life
        self.passed_over: dict[int, int] = {}
        self._offsets: dict[int, int] = {}
        self._places: list[str] = []
        self._members.append(self)

    def poll(self, max_events: int, timeout: float) -> list[bytes]:
        self._memory.on_poll()
        log = self._memory.log(self._stream)
        self._require(log.life)
        own = self._own(log)
        self._offsets = {n: self._offsets.get(n, log.groups[self._group].get(n, 0)) for n in own}
        events: list[bytes] = []
        self._places = []
        for n in own:
            partition, offset = log.partitions[n], self._offsets[n]
            if offset < partition.head:
                if events:
                    continue  # it comes again, when nothing was taken
                if not self._from_head:
                    raise Overtaken.at(f"{self._stream}, group {self._group}", n, offset, partition.head, "events")
                self.passed_over[n] = partition.head
                offset = self._offsets[n] = partition.head
            taken = partition.events[offset - partition.head :][: max_events - len(events)]
            self._places += [f"{n}/{offset + index}" for index in range(len(taken))]
            self._offsets[n] += len(taken)
            events += taken
        return events

    def place(self, index: int) -> str:
        return self._places[index]

    def has_reached(self, end: Position) -> bool:
        log = self._memory.log(self._stream)
        self._require(log.life)
        self._require(end.life)
        committed = log.groups[self._group]
        return all(
            max(self._offsets.get(n, committed.get(n, 0)), log.partitions[n].head) >= end.offsets.get(n, 0)
            for n in self._own(log)
        )

    def commit(self) -> bool:
        groups = self._memory.log(self._stream).groups
        if self._group not in groups:
            raise MiddlewareError(f"the group {self._group} was removed while a member reads")
        groups[self._group].update(self._offsets)
        return self._offsets.keys() <= set(self._own(self._memory.log(self._stream)))

    def close(self) -> None:
        if self in self._members:
            self._members.remove(self)

    def _require(self, life: str) -> None:
        if life != self._life:
            raise StreamReplaced(f"{self._stream} was deleted and made anew")

    @property
    def _members(self) -> list[MemoryConsumer]:
        return self._memory.logs[self._stream].members.setdefault(self._group, [])

    def _own(self, log: Log) -> list[int]:
        members = self._members
        return list(range(len(log.partitions)))[members.index(self) :: len(members)]
