"""Pulsar's data plane, of producers, consumers and the bounds of streams."""

from __future__ import annotations

from functools import partial

import pulsar

from common.settings import Settings
from middleware.data import Consumer, DataPlane, Position, Producer, Start
from middleware.group import Group
from middleware.pulsar.connection import Connection
from middleware.pulsar.consumer import PulsarConsumer
from middleware.pulsar.groups import Groups
from middleware.pulsar.producer import PulsarProducer, options
from middleware.pulsar.reader import PartitionReader
from middleware.pulsar.streams import Streams


class PulsarData(DataPlane):
    """Raises UnknownStream, or Unreachable where the broker does not answer within a few seconds."""

    def __init__(self, settings: Settings, connection: Connection) -> None:
        self._settings, self._connection = settings, connection
        self.streams = Streams(settings, connection)
        self.groups = Groups(connection, self.streams)

    def producer(self, stream: str) -> Producer:
        return PulsarProducer(partial(self._producers, stream), self._settings, stream)

    def consumer(self, stream: str, group: str, member: str = "", start: Start = "committed") -> Consumer:
        described = self.streams.describe(stream)
        if start != "committed":
            self.groups.forget(described.life, group)
        if self.groups.look(described.life, group) is None:
            first = (self.end if start == "tail" else self.head)(stream)
            self.groups.make(described.life, group, Group(dict(first.offsets)).to_bytes())
        return PulsarConsumer(
            partial(self.groups.record, described.life, group), member, self.streams, described,
            lambda partition, offset, found: PartitionReader(
                self._connection, self.streams.topic(stream, partition), found.origins[partition], offset
            ),
            stream, group, from_head=start == "head",
        )

    def head(self, stream: str) -> Position:
        described = self.streams.describe(stream)
        return Position(stream, described.life, {
            partition: self.streams.head(described, partition, self.streams.ledgers(stream, partition))
            for partition in described.origins
        })

    def end(self, stream: str) -> Position:
        described = self.streams.describe(stream)
        return Position(stream, described.life, {
            partition: self.streams.end(stream, partition, described) for partition in described.origins
        })

    def _producers(self, stream: str) -> list[pulsar.Producer]:
        return [self._connection.producer(self.streams.topic(stream, partition), **options(self._settings))
                for partition in self.streams.describe(stream).origins]
