"""Pravega's administration: streams, groups, retention and durability."""

from __future__ import annotations

from common.settings import Durability, Settings
from common.storage.held import Held
from common.tweets import first_sent_at
from middleware import membership
from middleware.admin import CREATE_SECONDS, Admin, await_answer, change
from middleware.data import DataPlane, Position
from middleware.errors import MiddlewareError, Unreachable
from middleware.group import Group
from middleware.pravega import cuts
from middleware.pravega.connection import Connection
from middleware.pravega.consumer import first_events, life
from middleware.pravega.journal import journal_durability
from middleware.pravega.jvm import raising


class PravegaAdmin(Admin):
    def __init__(self, settings: Settings, connection: Connection, data: DataPlane) -> None:
        self._settings, self._connection, self._data = settings, connection, data

    def wait_until_ready(self, timeout: float) -> None:
        def prepare() -> None:
            with raising(Unreachable, "Pravega is not ready"):
                self._connection.client().prepare()

        await_answer(f"Pravega at {self._connection.uri}", prepare, timeout)

    def create_stream(self, stream: str, partitions: int) -> None:
        connection = self._connection.client()

        def create() -> None:
            with raising(MiddlewareError, f"cannot create the stream {stream}"):
                connection.createStream(stream, partitions, self._settings.stream_retention_bytes)

        change(create, CREATE_SECONDS)

    def committed(self, stream: str, group: str) -> Position | None:
        self._connection.require(stream)
        record = self._connection.record(stream, group).read()
        if record is None:
            return None
        offsets = Group.from_bytes(record).offsets
        return Position(stream, life(offsets), offsets)

    def move_group(self, stream: str, group: str, to: Position) -> None:
        membership.move(self._connection.record(stream, group), group, to)

    def forget_group(self, stream: str, group: str) -> None:
        self._connection.forget_group(stream, group)

    def held(self, stream: str) -> Held:
        """Pravega does not tell when an event was written: the first ones of the segments may."""
        head, end = self._data.head(stream).offsets, self._data.end(stream).offsets
        with raising(Unreachable, f"cannot read the first events of {stream}"):
            reader = self._connection.client().reader(stream)
            try:
                oldest = first_sent_at(first_events(reader, head, end))
            finally:
                reader.close()
        return Held(stream, cuts.bytes_between(head, end), self._settings.stream_retention_bytes, "bytes", oldest)

    def retention_used(self, stream: str, position: Position) -> float | None:
        head, unread = self._data.head(stream), cuts.bytes_between(position.offsets, self._data.end(stream).offsets)
        share = unread / self._settings.stream_retention_bytes
        return max(1.0, share) if position.lies_before(head) else share

    def durability_in_force(self) -> Durability | None:
        return journal_durability(self._settings)
