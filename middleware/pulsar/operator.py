"""What an operator does to Pulsar's streams."""

from __future__ import annotations

from common.settings import Settings
from middleware.data import Position
from middleware.pulsar.connection import Connection
from middleware.pulsar.streams import Streams


class PulsarOperator:
    def __init__(self, settings: Settings) -> None:
        self._streams = Streams(settings, Connection(settings))

    def truncate(self, to: Position) -> None:
        """Pulsar removes whole ledgers only, so this is a mark, which whoever reads observes."""
        self._streams.cut(to.stream, to.offsets)

    def delete(self, stream: str) -> None:
        self._streams.delete(stream)

    def scale(self, stream: str, partitions: int) -> None:
        """Adds partitions to those that there are."""
        self._streams.add(stream, partitions)
