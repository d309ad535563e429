"""How Spark reads and writes a stream, by the data source of spark_pulsar/.

Its offsets, in checkpoints and in the column `offset`, are those of offsets.py, as long as they fit a signed integer of
64 bits: of ledger L, entry E and the i-th event of that (0 where it is the only one), (L << 40) + (E << 12) + i, less
the same of the entry behind the partition's origin, and not below 0. A partition ends at the offset of its last event,
plus 1; where the next one stands is not known before it is there. Origin and cut of each partition are properties of
the topic (streams.py): the head is the cut, or the first ledger that is left where that begins later. Events behind a
commit that are neither there nor next to what was read are gone: PULSAR_DATA_LOSS. A key's partition is told by
middleware/partitioning.py; an entry has 4,095 events at most.
"""

from __future__ import annotations

from common.settings import Settings
from middleware.checkpoint import SourceOffset
from middleware.data import Position
from middleware.pulsar.connection import Connection
from middleware.pulsar.streams import Streams
from middleware.spark import SparkBinding, SparkStreams

BATCH_EVENTS = 100_000
"""What a micro-batch of Spark reads at most, unless set."""


class PulsarSpark(SparkStreams):
    """Spark's offset is ours, of the first event that is not read."""

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
        life = self._streams.describe(stream).life
        return Position(stream, life, dict(enumerate(SourceOffset.parse(stream, source_offset).of(life))))

    def offset(self, position: Position) -> str:
        return SourceOffset(position.life, [offset for _, offset in sorted(position.offsets.items())]).text()
