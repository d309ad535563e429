"""NATS' data plane, of producers, consumers and the bounds of streams."""

from __future__ import annotations

from functools import partial

from common.settings import Settings
from middleware.data import Consumer, DataPlane, Position, Producer, Start
from middleware.group import Group
from middleware.membership import Membership
from middleware.nats.connection import Connection
from middleware.nats.consumer import NatsConsumer, life
from middleware.nats.groups import Groups
from middleware.nats.producer import NatsProducer
from middleware.nats.reader import PartitionReader
from middleware.nats.streams import Streams


class NatsData(DataPlane):
    """Raises UnknownStream, or Unreachable where the server does not answer within a few seconds."""

    def __init__(self, settings: Settings, connection: Connection) -> None:
        self._settings, self._connection = settings, connection
        self.streams = Streams(settings, connection)
        self.groups = Groups(settings.namespace, connection)

    def producer(self, stream: str) -> Producer:
        return NatsProducer(self._settings, self._connection, stream)

    def consumer(self, stream: str, group: str, member: str = "", start: Start = "committed") -> Consumer:
        found = self.streams.partitions(stream)
        if start != "committed":
            self.groups.forget(stream, group)
        record = self.groups.record(stream, group)
        if record.read() is None:
            first = {number: one.end if start == "tail" else one.head for number, one in found.items()}
            record.replace(Group(first).to_bytes())  # of two members that make it, the first one does
        return NatsConsumer(
            Membership(partial(self.groups.record, stream, group), stream, member),
            partial(self.streams.partitions, stream),
            lambda partition, sequence, arrived: PartitionReader(
                self._connection, self.streams.name(stream, partition), sequence, arrived
            ),
            stream, group, from_head=start == "head",
        )

    def head(self, stream: str) -> Position:
        found = self.streams.partitions(stream)
        return Position(stream, life(found), {number: one.head for number, one in found.items()})

    def end(self, stream: str) -> Position:
        found = self.streams.partitions(stream)
        return Position(stream, life(found), {number: one.end for number, one in found.items()})
