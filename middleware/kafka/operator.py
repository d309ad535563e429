"""What an operator does to Kafka's topics."""

from __future__ import annotations

from typing import Any

from confluent_kafka import KafkaError, TopicPartition
from confluent_kafka.admin import NewPartitions

from common.settings import Settings
from middleware.admin import await_done
from middleware.data import Position
from middleware.kafka.cluster import NOT_SETTLED, Cluster


class KafkaOperator:
    def __init__(self, settings: Settings) -> None:
        self._cluster = Cluster(settings)
        self._admin = self._cluster.client()

    def truncate(self, to: Position) -> None:
        topic = self._cluster.topic(to.stream)
        wanted = [TopicPartition(topic, partition, offset) for partition, offset in to.offsets.items()]
        for done in self._admin.delete_records(wanted).values():
            done.result()

    def delete(self, stream: str) -> None:
        topic = self._cluster.topic(stream)
        self._admin.delete_topics([topic])[topic].result()
        await_done(f"removing {stream}", lambda: topic not in self._topics())

    def scale(self, stream: str, partitions: int) -> None:
        """Adds partitions to those that there are."""
        topic = self._cluster.topic(stream)
        wanted = NewPartitions(topic, partitions)
        self._cluster.once_settled(
            lambda: self._admin.create_partitions([wanted])[topic].result(), f"cannot add partitions to {topic}",
            passing=(*NOT_SETTLED, KafkaError.INVALID_REPLICATION_FACTOR),
        )
        await_done(f"scaling {stream}", lambda: len(self._topics()[topic].partitions) == partitions)

    def _topics(self) -> dict[str, Any]:
        return self._admin.list_topics(timeout=10).topics
