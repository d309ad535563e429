"""What an operator does to the files, which the server does for him."""

from __future__ import annotations

from common.settings import Settings
from middleware.data import Position
from middleware.files.connection import Connection, address_of


class FilesOperator:
    def __init__(self, settings: Settings) -> None:
        self._connection = Connection(address_of(settings))

    def truncate(self, to: Position) -> None:
        self._connection.ask("truncate", to.stream, dict(to.offsets))

    def delete(self, stream: str) -> None:
        self._connection.ask("delete", stream)

    def scale(self, stream: str, partitions: int) -> None:
        """Adds partitions to those that there are."""
        self._connection.ask("scale", stream, partitions)
