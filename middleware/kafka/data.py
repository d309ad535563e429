"""Kafka's data plane, of producers, consumers and the edges of topics."""

from __future__ import annotations

from confluent_kafka.admin import OffsetSpec

from common.settings import Settings
from middleware.data import Consumer, DataPlane, Position, Producer, Start
from middleware.errors import Unreachable
from middleware.kafka import positions
from middleware.kafka.cluster import Cluster
from middleware.kafka.consumer import KafkaConsumer
from middleware.kafka.producer import KafkaProducer


class KafkaData(DataPlane):
    """Raises Unreachable where no broker answers within a few seconds."""

    def __init__(self, settings: Settings, cluster: Cluster) -> None:
        self._settings, self._cluster = settings, cluster

    def producer(self, stream: str) -> Producer:
        topic = self._cluster.topic(stream)
        self._cluster.partitions(topic)
        return KafkaProducer(self._cluster.configuration(), self._settings, topic)

    def consumer(self, stream: str, group: str, member: str = "", start: Start = "committed") -> Consumer:
        topic, name = self._cluster.topic(stream), self._cluster.group(stream, group)
        self._cluster.partitions(topic)
        if start != "committed":
            positions.move(self._cluster, topic, name, (self.head if start == "head" else self.end)(stream).offsets)
        with self._cluster.raising(Unreachable, f"cannot join the group {group} of {stream}"):
            return KafkaConsumer(
                self._cluster.configuration(), topic, name, member, lambda: self._cluster.life(topic),
                from_head=start == "head",
            )

    def head(self, stream: str) -> Position:
        return self._edge(stream, OffsetSpec.earliest())

    def end(self, stream: str) -> Position:
        return self._edge(stream, OffsetSpec.latest())

    def _edge(self, stream: str, of: OffsetSpec) -> Position:
        topic = self._cluster.topic(stream)
        partitions, life = self._cluster.partitions(topic), self._cluster.life(topic)
        return Position(stream, life, self._cluster.offsets(topic, partitions, of))
