"""How Spark reads and writes a stream, by the data source of spark_nats/."""

from __future__ import annotations

from common.settings import Settings
from middleware.checkpoint import SourceOffset
from middleware.data import Position
from middleware.nats.connection import Connection
from middleware.nats.consumer import life
from middleware.nats.streams import Streams
from middleware.spark import SparkBinding, SparkStreams

BATCH_EVENTS = 100_000
"""What a micro-batch of Spark reads at most, unless set."""


class NatsSpark(SparkStreams):
    """Spark's offset is the sequence of the next event: ours, plus one."""

    def __init__(self, settings: Settings, connection: Connection) -> None:
        self._settings, self._connection = settings, connection

    def binding(self, stream: str) -> SparkBinding:
        where = {"servers": self._connection.uri, "namespace": self._settings.namespace}
        return SparkBinding(
            format="nats",
            event_column="event", key_column="key", stream_column="stream",
            partition_column="partition", offset_column="offset - 1",
            read_options={
                **where,
                "stream": stream,
                "starting_offsets": "earliest",
                "max_events_per_trigger": str(self._settings.max_events_per_trigger or BATCH_EVENTS),
            },
            # Where nobody can tell whether an epoch was written, what is written twice is dropped later; a query that
            # fails for ever is worse.
            write_options={**where, "exactly_once": "true", "on_unknown_epoch": "write"},
            repeating_options={"exactly_once": "false"},
            exactly_once=True,
            batch_events=BATCH_EVENTS,
            initial_offset=("initial-offset", ""),
            signs_of_loss=("NATS_DATA_LOSS",),
        )

    def position(self, stream: str, source_offset: str) -> Position:
        now = life(Streams(self._settings, self._connection).partitions(stream))
        found = SourceOffset.parse(stream, source_offset).of(now)
        return Position(stream, now, {partition: following - 1 for partition, following in enumerate(found)})

    def offset(self, position: Position) -> str:
        return SourceOffset(position.life, [offset + 1 for _, offset in sorted(position.offsets.items())]).text()
