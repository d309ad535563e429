"""Spark's data source for streams of files. Spark finds it by the beginning of its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import Row
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from middleware.errors import Overtaken
from middleware.files.connection import Connection
from middleware.files.producer import FilesProducer

LENGTH_BYTES = 4
"""What precedes an event in its file."""

GROUP_S = 1.0


class DefaultSource(DataSource):
    """Options: `address` of the server; `stream` to read, or `max_event_bytes` to write."""

    @classmethod
    def name(cls) -> str:
        return "files"

    def schema(self) -> str:
        return "event binary, partition int, offset long"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return Reader(self.options["address"], self.options["stream"])

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        return Writer(self.options["address"], int(self.options["max_event_bytes"]))


@dataclass
class Part(InputPartition):
    """What one task reads."""

    partition: int
    offset: int
    end: int


class Reader(DataSourceStreamReader):
    """An offset is that of each partition, by its number as a text."""

    def __init__(self, address: str, stream: str) -> None:
        self._address, self._stream = address, stream

    def initialOffset(self) -> dict[str, int]:
        return self._bounds()[0]

    def latestOffset(self) -> dict[str, int]:
        return self._bounds()[1]

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Part]:
        """Raises Overtaken."""
        heads, _ = self._bounds()
        for at, head in heads.items():
            if start.get(at, 0) < head:
                raise Overtaken.at(self._stream, int(at), start.get(at, 0), head, "bytes")
        return [Part(int(at), start.get(at, 0), last) for at, last in end.items() if start.get(at, 0) < last]

    def read(self, partition: InputPartition) -> Iterator[tuple[bytes, int, int]]:
        assert isinstance(partition, Part)
        at, offset, connection = partition.partition, partition.offset, Connection(self._address)
        while events := connection.ask("read", self._stream, at, offset, partition.end):
            for place, event in events:
                yield event, at, place
                offset = place + LENGTH_BYTES + len(event)
        connection.close()

    def _bounds(self) -> tuple[dict[str, int], dict[str, int]]:
        connection = Connection(self._address)
        _, *bounds = connection.ask("bounds", self._stream)
        connection.close()
        first, last = ({str(at): offset for at, offset in each.items()} for each in bounds)
        return first, last


class Writer(DataSourceStreamWriter):
    """At least once: a task that is run again writes its events again."""

    def __init__(self, address: str, max_event_bytes: int) -> None:
        self._address, self._max_event_bytes = address, max_event_bytes

    def write(self, iterator: Iterator[Row]) -> WriterCommitMessage:
        producers: dict[str, FilesProducer] = {}
        for row in iterator:
            if row.stream not in producers:
                producers[row.stream] = FilesProducer(
                    Connection(self._address), row.stream, self._max_event_bytes, GROUP_S
                )
            producers[row.stream].send(row.key, bytes(row.event))
        for producer in producers.values():
            producer.close()
        return WriterCommitMessage()
