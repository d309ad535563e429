"""Data plane of the files: whoever writes or reads has a connection of its own."""

from __future__ import annotations

from common.settings import Settings
from middleware.data import Consumer, DataPlane, Position, Producer, Start
from middleware.files.connection import Connection
from middleware.files.consumer import FilesConsumer
from middleware.files.producer import FilesProducer


class FilesData(DataPlane):
    def __init__(self, settings: Settings, connection: Connection) -> None:
        self._settings, self._connection = settings, connection

    def producer(self, stream: str) -> Producer:
        self.end(stream)
        settings = self._settings
        return FilesProducer(Connection(self._connection.address), stream, settings.max_event_bytes,
                             settings.publish_group_ms / 1000)

    def consumer(self, stream: str, group: str, member: str = "", start: Start = "committed") -> Consumer:
        """A member's share is free as soon as its connection is, so its name says nothing."""
        return FilesConsumer(Connection(self._connection.address), stream, group, start)

    def head(self, stream: str) -> Position:
        life, heads, _ = self._connection.ask("bounds", stream)
        return Position(stream, life, heads)

    def end(self, stream: str) -> Position:
        life, _, ends = self._connection.ask("bounds", stream)
        return Position(stream, life, ends)
