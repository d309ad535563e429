"""Kafka by librdkafka. A stream is a topic, the namespace the prefix of its name."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import ConfigResource, NewTopic, OffsetSpec

from common.settings import Durability, Port, Settings
from common.storage.held import Held
from common.tweets import RAW
from middleware.base import Consumer, Middleware, Position, Producer, SparkBinding, Start, Unreachable
from middleware.kafka import positions, retention, spark
from middleware.kafka.cluster import ANSWER_SECONDS, Cluster
from middleware.kafka.consumer import KafkaConsumer
from middleware.kafka.producer import KafkaProducer, batch_bytes

log = logging.getLogger(__name__)

SEGMENT_BYTES = 128 << 20
"""Files of a partition; retention removes whole ones, so they are smaller where little is kept."""

SEGMENTS_KEPT = 8


class Kafka(Middleware):
    """Raises Unreachable where no broker answers within a few seconds."""

    name = "kafka"
    asks_durability = True
    acknowledgement: Mapping[str, str] = {
        "fsync": "appended by all in-sync replicas and flushed to disk before it is acknowledged; survives the machine",
        "page-cache": "appended by all in-sync replicas, in the memory of their operating system: survives the "
                      "broker's process, may be lost with the machine",
    }

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._cluster = Cluster(settings.middleware_uri or settings.address(Port.KAFKA))

    def wait_until_ready(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            try:
                if self._cluster.metadata(min(left, ANSWER_SECONDS)).brokers:
                    return
            except Unreachable as error:
                log.debug("Kafka is not ready: %s", error)
            time.sleep(0.1)
        raise Unreachable(f"Kafka at {self._cluster.servers} was not ready within {timeout:.0f} s")

    def create_stream(self, stream: str, partitions: int) -> None:
        bound = retention.partition_bound(self.settings, partitions)
        segment = min(SEGMENT_BYTES, max(batch_bytes(self.settings), bound // SEGMENTS_KEPT))
        self._cluster.create(NewTopic(self.stream_name(stream), num_partitions=partitions, config={
            "retention.bytes": str(bound), "retention.ms": "-1", "segment.bytes": str(segment),
            "max.message.bytes": str(batch_bytes(self.settings)),
        }))

    def producer(self, stream: str) -> Producer:
        self._cluster.partitions(self.stream_name(stream))
        return KafkaProducer(self._cluster.configuration(), self.settings, self.stream_name(stream))

    def consumer(self, stream: str, group: str, member: str = "", start: Start = "committed") -> Consumer:
        topic = self.stream_name(stream)
        self._cluster.partitions(topic)
        if start != "committed":
            self.move_group(stream, group, self.head(stream) if start == "head" else self.end(stream))
        with self._cluster.raising(Unreachable, f"cannot join the group {group} of {stream}"):
            return KafkaConsumer(
                self._cluster.configuration(), topic, self._group(stream, group), member,
                lambda: self._cluster.life(topic), from_head=start == "head",
            )

    def end(self, stream: str) -> Position:
        return self._edge(stream, OffsetSpec.latest())

    def forget_group(self, stream: str, group: str) -> None:
        def delete() -> None:
            name = self._group(stream, group)
            try:
                self._cluster.client().delete_consumer_groups([name], request_timeout=ANSWER_SECONDS)[name].result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                    raise

        self._cluster.once_settled(delete, f"cannot remove the group {group} of {stream}")

    def head(self, stream: str) -> Position:
        return self._edge(stream, OffsetSpec.earliest())

    def committed(self, stream: str, group: str) -> Position | None:
        """The head of a partition of which the group has committed nothing: it would begin there."""
        topic = self.stream_name(stream)
        partitions = self._cluster.partitions(topic)
        with self._cluster.raising(Unreachable, f"cannot look for the group {group} of {stream}"):
            found = positions.committed(self._cluster.client(), topic, partitions, self._group(stream, group))
        if not found:
            return None
        head = self.head(stream)
        return Position(stream, head.life, {**head.offsets, **found})

    def move_group(self, stream: str, group: str, to: Position) -> None:
        topic, name = self.stream_name(stream), self._group(stream, group)
        self._cluster.once_settled(
            lambda: positions.commit(self._cluster.client(), topic, name, to.offsets),
            f"cannot move the group {group} of {stream}",
        )

    def held(self, stream: str) -> Held:
        """Bytes are those of the broker's files, which are known where the broker is the local one."""
        head, end = self.head(stream), self.end(stream)
        with self._cluster.raising(Unreachable, f"cannot find the first events of {stream}"):
            oldest = positions.oldest_at(self._cluster.client(), self.stream_name(stream), list(head.offsets))
        held = retention.bytes_between(self.settings, self.stream_name(stream), head.offsets, end.offsets)
        holds = None if held is None else sum(held.values())
        return Held(stream, holds, self.settings.stream_retention_bytes, "bytes", oldest)

    def retention_used(self, stream: str, position: Position) -> float | None:
        """Of the partition that comes off worst, as each has a bound of its own.

        Within a file of the broker an event counts as much as any other of it.
        """
        head, end = self.head(stream), self.end(stream)
        unread = retention.bytes_between(self.settings, self.stream_name(stream), position.offsets, end.offsets)
        if unread is None:
            return None
        share = max(unread.values(), default=0) / retention.partition_bound(self.settings, len(end.offsets))
        return max(1.0, share) if position.lies_before(head) else share

    def spark_position(self, stream: str, source_offset: str) -> Position:
        topic = self.stream_name(stream)
        return Position(stream, self._cluster.life(topic), positions.from_spark(topic, source_offset))

    def spark_offset(self, position: Position) -> str:
        return positions.to_spark(self.stream_name(position.stream), position.offsets)

    def durability_in_force(self) -> Durability | None:
        resource = ConfigResource(ConfigResource.Type.TOPIC, self.stream_name(RAW))
        self._cluster.partitions(self.stream_name(RAW))
        with self._cluster.raising(Unreachable, "cannot read the configuration of the streams"):
            asked = self._cluster.client().describe_configs([resource], request_timeout=ANSWER_SECONDS)
            found = asked[resource].result()
        return "fsync" if found["flush.messages"].value == "1" else "page-cache"

    def spark(self, stream: str) -> SparkBinding:
        return spark.binding(self.settings, self._cluster.servers, self.stream_name(stream))

    def stream_name(self, stream: str) -> str:
        return f"{self.settings.namespace}.{stream}"

    def close(self) -> None:
        self._cluster.close()

    def _edge(self, stream: str, of: OffsetSpec) -> Position:
        topic = self.stream_name(stream)
        partitions, life = self._cluster.partitions(topic), self._cluster.life(topic)
        return Position(stream, life, self._cluster.offsets(topic, partitions, of))

    def _group(self, stream: str, group: str) -> str:
        return f"{self.stream_name(stream)}.{group}"
