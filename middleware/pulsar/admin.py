"""Pulsar's administration: streams, groups, retention and durability."""

from __future__ import annotations

from common.settings import Durability, Settings
from common.storage.held import Held
from common.tweets import RAW
from middleware import membership
from middleware.admin import CREATE_SECONDS, Admin, await_answer, change
from middleware.data import Position
from middleware.errors import Unreachable
from middleware.group import Group
from middleware.pulsar.connection import Connection
from middleware.pulsar.data import PulsarData
from middleware.pulsar.journal import journal_durability
from middleware.pulsar.rest import Refused


class PulsarAdmin(Admin):
    """Raises Unreachable where the broker does not answer within a few seconds."""

    def __init__(self, settings: Settings, connection: Connection, data: PulsarData) -> None:
        self._settings, self._connection = settings, connection
        self._data, self._streams, self._groups = data, data.streams, data.groups

    def wait_until_ready(self, timeout: float) -> None:
        await_answer(f"Pulsar at {self._connection.service}",
                     lambda: self._streams.make_namespace(self._settings.namespace), timeout, (Unreachable, Refused))

    def create_stream(self, stream: str, partitions: int) -> None:
        change(lambda: self._streams.create(stream, partitions), CREATE_SECONDS)

    def committed(self, stream: str, group: str) -> Position | None:
        life = self._streams.describe(stream).life
        content = self._groups.look(life, group)
        return None if content is None else Position(stream, life, Group.from_bytes(content).offsets)

    def move_group(self, stream: str, group: str, to: Position) -> None:
        life = self._streams.describe(stream).life
        self._groups.make(life, group, Group(dict(to.offsets)).to_bytes())
        record = self._groups.record(life, group)
        try:
            membership.move(record, group, to)
        finally:
            record.close()

    def forget_group(self, stream: str, group: str) -> None:
        self._groups.forget(self._streams.describe(stream).life, group)

    def held(self, stream: str) -> Held:
        head, end = self._data.head(stream), self._data.end(stream)
        oldest = [at for partition, offset in head.offsets.items() if offset < end.offsets.get(partition, 0)
                  and (at := self._oldest_at(stream, partition, offset)) is not None]
        return Held(stream, sum(self._bytes(stream, head, end).values()), self._settings.stream_retention_bytes,
                    "bytes", min(oldest, default=None))

    def retention_used(self, stream: str, position: Position) -> float | None:
        """Of the partition that comes off worst, as each has a bound of its own."""
        head, end = self._data.head(stream), self._data.end(stream)
        unread = self._bytes(stream, position, end)
        share = max(unread.values(), default=0) / self._streams.bound(len(end.offsets))
        return max(1.0, share) if position.lies_before(head) else share

    def durability_in_force(self) -> Durability | None:
        self._streams.describe(RAW)
        return journal_durability(self._settings)

    def _bytes(self, stream: str, first: Position, end: Position) -> dict[int, int]:
        """By partition; of one that `first` lacks from its beginning."""
        origins = self._streams.describe(stream).origins
        return {
            partition: self._streams.bytes_between(
                stream, partition, origins[partition].place(first.offsets.get(partition, 0)),
                origins[partition].place(last),
            )
            for partition, last in end.offsets.items()
        }

    def _oldest_at(self, stream: str, partition: int, offset: int) -> float | None:
        place = self._streams.describe(stream).origins[partition].place(offset)
        return self._streams.published_at(stream, partition, place)
