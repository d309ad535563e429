"""What an operator does to NATS' streams."""

from __future__ import annotations

from common.settings import Settings
from middleware.data import Position
from middleware.nats.connection import Connection
from middleware.nats.streams import Streams


class NatsOperator:
    def __init__(self, settings: Settings) -> None:
        self._streams = Streams(settings, Connection(settings))

    def truncate(self, to: Position) -> None:
        for partition, offset in to.offsets.items():
            self._streams.truncate(to.stream, partition, offset)

    def delete(self, stream: str) -> None:
        self._streams.delete(stream)

    def scale(self, stream: str, partitions: int) -> None:
        """Adds partitions to those that there are."""
        self._streams.add(stream, range(len(self._streams.partitions(stream)), partitions), partitions)
