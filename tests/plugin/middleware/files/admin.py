"""Administration of the files, which the server does."""

from __future__ import annotations

import time

from common.settings import Durability, Settings
from common.storage.held import Held
from common.tweets import first_sent_at
from middleware.admin import Admin
from middleware.data import DataPlane, Position
from middleware.errors import MiddlewareError, Unreachable
from middleware.files.connection import ANSWER_SECONDS, Connection

PAUSE_S = 0.2
LEAVE_SECONDS = 15.0
"""How long the members of a group that is to be moved may take to leave."""


class FilesAdmin(Admin):
    def __init__(self, settings: Settings, connection: Connection, data: DataPlane) -> None:
        self._settings, self._connection, self._data = settings, connection, data

    def wait_until_ready(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while True:
            try:
                self._connection.ask("durability", within=max(0.0, min(ANSWER_SECONDS, deadline - time.monotonic())))
                return
            except Unreachable:
                if time.monotonic() > deadline:
                    raise
            time.sleep(PAUSE_S)

    def create_stream(self, stream: str, partitions: int) -> None:
        self._connection.ask("create", stream, partitions, self._settings.stream_retention_bytes)

    def committed(self, stream: str, group: str) -> Position | None:
        life, offsets = self._connection.ask("committed", stream, group)
        return None if offsets is None else Position(stream, life, offsets)

    def move_group(self, stream: str, group: str, to: Position) -> None:
        deadline = time.monotonic() + LEAVE_SECONDS
        while not self._connection.ask("move", stream, group, dict(to.offsets)):
            if time.monotonic() > deadline:
                raise MiddlewareError(f"cannot move the group {group} of {stream}: members read")
            time.sleep(PAUSE_S)

    def forget_group(self, stream: str, group: str) -> None:
        self._connection.ask("forget", stream, group)

    def held(self, stream: str) -> Held:
        """When an event was written is not kept: the first ones of the partitions may tell."""
        bounds = self._data.head(stream).offsets, self._data.end(stream).offsets
        oldest = first_sent_at(self._connection.ask("first", stream))
        holds = sum(end - head for head, end in zip(*(each.values() for each in bounds), strict=True))
        return Held(stream, holds, self._settings.stream_retention_bytes, "bytes", oldest)

    def retention_used(self, stream: str, position: Position) -> float | None:
        """Of the partition that comes off worst, as each has its share of the bound."""
        head, end = self._data.head(stream), self._data.end(stream).offsets
        bound = self._settings.stream_retention_bytes / len(end)
        share = max(offset - position.offsets.get(partition, 0) for partition, offset in end.items()) / bound
        return max(1.0, share) if position.lies_before(head) else share

    def durability_in_force(self) -> Durability | None:
        return self._connection.ask("durability")
