"""How Spark reads and writes a topic, by Java's client."""

from __future__ import annotations

from common.settings import Settings
from middleware.data import Position
from middleware.kafka import positions
from middleware.kafka.cluster import Cluster
from middleware.kafka.producer import batch_bytes, compression
from middleware.spark import SparkBinding, SparkStreams

BATCH_EVENTS = 100_000
"""What a micro-batch of Spark reads at most, unless set."""

SEND_WAIT_MS = 1000
"""Longer than a task takes, as a rule: it sends at its end, in one batch if that holds it, for readers to get it whole.
*Trending* counts what is there, and would count a micro-batch that comes in pieces in as many of its own."""

SEND_BUFFER_BYTES = 64 << 20
"""What all tasks of a process keep until it is acknowledged; Java's default is 32 MiB, four batches."""

READ_BYTES = 16 << 20
"""What one request of a task fetches of a partition; Java's default is 1 MiB, handed out by 500 events."""

READ_WAIT_MS = 5
"""How long a fetch waits at the broker where nothing has come; Java's default is 500. After each piece Spark asks where
the stream begins and ends, and that request waits behind the fetch which Java's client has sent ahead."""

TUNING = frozenset({
    "kafka.max.partition.fetch.bytes", "kafka.max.poll.records", "kafka.fetch.max.wait.ms", "kafka.enable.idempotence",
    "kafka.linger.ms", "kafka.batch.size", "kafka.buffer.memory", "kafka.max.request.size", "kafka.compression.type",
})


class KafkaSpark(SparkStreams):
    def __init__(self, settings: Settings, cluster: Cluster) -> None:
        self._settings, self._cluster = settings, cluster

    def binding(self, stream: str) -> SparkBinding:
        return binding(self._settings, self._cluster.servers, self.stream_name(stream))

    def stream_name(self, stream: str) -> str:
        return self._cluster.topic(stream)

    def position(self, stream: str, source_offset: str) -> Position:
        topic = self._cluster.topic(stream)
        return Position(stream, self._cluster.life(topic), positions.from_spark(topic, source_offset))

    def offset(self, position: Position) -> str:
        return positions.to_spark(self._cluster.topic(position.stream), position.offsets)


def binding(settings: Settings, servers: str, topic: str) -> SparkBinding:
    """`servers`: addresses with commas between."""
    where = {"kafka.bootstrap.servers": servers}
    return SparkBinding(
        format="kafka",
        event_column="value", key_column="key", stream_column="topic",
        partition_column="partition", offset_column="offset",
        read_options={
            **where,
            "subscribe": topic,
            "startingOffsets": "earliest",
            "failOnDataLoss": "true",
            "maxOffsetsPerTrigger": str(settings.max_events_per_trigger or BATCH_EVENTS),
            "kafka.max.partition.fetch.bytes": str(READ_BYTES),
            "kafka.max.poll.records": str(BATCH_EVENTS),
            "kafka.fetch.max.wait.ms": str(READ_WAIT_MS),
        },
        write_options={
            **where,
            "kafka.acks": "all",
            "kafka.compression.type": compression(settings),
            "kafka.enable.idempotence": "true",
            "kafka.linger.ms": str(SEND_WAIT_MS),
            "kafka.batch.size": str(batch_bytes(settings)),
            "kafka.buffer.memory": str(SEND_BUFFER_BYTES),
            "kafka.max.request.size": str(batch_bytes(settings)),
        },
        tuning=TUNING,
        batch_events=BATCH_EVENTS,
        initial_offset=("0", "\0v1\n"),
        signs_of_loss=("KAFKA_DATA_LOSS", "OffsetOutOfRangeException"),
    )
