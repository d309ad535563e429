"""How Spark reads and writes a stream, by the data source of spark_pravega/."""

from __future__ import annotations

from common.settings import Settings
from middleware.data import Position
from middleware.pravega import cuts
from middleware.pravega.connection import Connection
from middleware.pravega.consumer import life
from middleware.spark import SparkBinding, SparkStreams

BATCH_BYTES = 64 << 20
"""What a micro-batch reads at most, unless a number of events is set: that has to be counted by reading."""

TRANSACTION_TIMEOUT_MS = 90_000
"""Lease of an epoch; Pravega takes 10,000 to 600,000."""


class PravegaSpark(SparkStreams):
    def __init__(self, settings: Settings, connection: Connection) -> None:
        self._settings, self._connection = settings, connection

    def binding(self, stream: str) -> SparkBinding:
        where = {"controller": self._connection.uri, "scope": self._connection.scope}
        events = self._settings.max_events_per_trigger
        limit = {"max_events_per_trigger": str(events)} if events else {"max_bytes_per_trigger": str(BATCH_BYTES)}
        return SparkBinding(
            format="pravega",
            event_column="event", key_column="routing_key", stream_column="stream",
            partition_column="segment_id", offset_column="offset",
            read_options={
                **where,
                "stream": stream,
                "start_stream_cut": "earliest",
                **limit,
            },
            write_options={
                **where, "exactly_once": "true", "transaction_timeout_ms": str(TRANSACTION_TIMEOUT_MS),
                # A transaction that is being committed cannot fail any more: the next batch need not wait for it.
                "read_after_write_consistency": "false",
            },
            repeating_options={"exactly_once": "false"},
            exactly_once=True,
            initial_offset=("initial-offset", ""),
            signs_of_loss=("was truncated beyond the place to read from",),
        )

    def position(self, stream: str, source_offset: str) -> Position:
        self._connection.client()
        offsets = cuts.from_spark(source_offset)
        return Position(stream, life(offsets), offsets)

    def offset(self, position: Position) -> str:
        self._connection.client()
        return cuts.to_spark(self._connection.scope, position.stream, position.offsets)
