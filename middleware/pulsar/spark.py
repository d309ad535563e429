"""How Spark reads and writes a stream, by the data source of spark_pulsar/."""

from __future__ import annotations

import json

from common.settings import Settings
from middleware.data import Position
from middleware.errors import MiddlewareError
from middleware.pulsar.connection import Connection
from middleware.pulsar.streams import Streams
from middleware.spark import SparkBinding, SparkStreams

BATCH_EVENTS = 100_000
"""What a micro-batch of Spark reads at most, unless set."""


class PulsarSpark(SparkStreams):
    """Spark's offset is ours, of the first event that is not read, as a JSON object by partition."""

    def __init__(self, settings: Settings, connection: Connection, streams: Streams) -> None:
        self._settings, self._connection, self._streams = settings, connection, streams

    def binding(self, stream: str) -> SparkBinding:
        where = {"service_url": self._connection.service, "admin_url": self._connection.rest.uri,
                 "namespace": self._settings.namespace}
        return SparkBinding(
            format="pulsar",
            event_column="event", key_column="key", stream_column="stream",
            partition_column="partition", offset_column="offset",
            read_options={
                **where,
                "stream": stream,
                "starting_offsets": "earliest",
                "max_events_per_trigger": str(self._settings.max_events_per_trigger or BATCH_EVENTS),
            },
            write_options=where,
            exactly_once=False,
            batch_events=BATCH_EVENTS,
            initial_offset=("initial-offset", ""),
            signs_of_loss=("PULSAR_DATA_LOSS",),
        )

    def position(self, stream: str, source_offset: str) -> Position:
        try:
            offsets = {int(partition): int(offset) for partition, offset in json.loads(source_offset).items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise MiddlewareError(f"not an offset of {stream} in a checkpoint: {source_offset[:200]}") from error
        return Position(stream, self._streams.describe(stream).life, offsets)

    def offset(self, position: Position) -> str:
        return json.dumps({str(partition): offset for partition, offset in sorted(position.offsets.items())},
                          separators=(",", ":"))
