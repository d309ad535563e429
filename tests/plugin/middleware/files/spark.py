"""How Spark reads and writes streams of files: by pyspark_files, which it finds by its name on Python's path."""

from __future__ import annotations

import json

from common.settings import Settings
from middleware.data import DataPlane, Position
from middleware.errors import MiddlewareError
from middleware.files.connection import address_of
from middleware.spark import SparkBinding, SparkStreams


class FilesSpark(SparkStreams):
    def __init__(self, settings: Settings, data: DataPlane) -> None:
        self._settings, self._data = settings, data

    def binding(self, stream: str) -> SparkBinding:
        """At least once; a micro-batch has no bound, as a source in Python is not asked for one."""
        options = {"address": address_of(self._settings)}
        return SparkBinding(
            format="files",
            event_column="event", key_column="key", stream_column="stream",
            partition_column="partition", offset_column="offset",
            read_options={**options, "stream": stream},
            write_options={**options, "max_event_bytes": str(self._settings.max_event_bytes)},
            signs_of_loss=("retention removed offsets",),
        )

    def position(self, stream: str, source_offset: str) -> Position:
        try:
            offsets = {int(partition): int(offset) for partition, offset in json.loads(source_offset).items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise MiddlewareError(f"not an offset of a stream in a checkpoint: {source_offset[:200]}") from error
        return Position(stream, self._data.head(stream).life, offsets)

    def offset(self, position: Position) -> str:
        return json.dumps({str(partition): offset for partition, offset in position.offsets.items()})
