"""Kafka's administration: topics, groups, retention and durability."""

from __future__ import annotations

import logging
import time

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import ConfigResource, NewTopic

from common.settings import Durability, Settings
from common.storage.held import Held
from common.tweets import RAW
from middleware.admin import Admin
from middleware.data import DataPlane, Position
from middleware.errors import Unreachable
from middleware.kafka import positions, retention
from middleware.kafka.cluster import ANSWER_SECONDS, Cluster
from middleware.kafka.producer import batch_bytes

log = logging.getLogger(__name__)

SEGMENT_BYTES = 128 << 20
"""Files of a partition; retention removes whole ones, so they are smaller where little is kept."""

SEGMENTS_KEPT = 8


class KafkaAdmin(Admin):
    """Raises Unreachable where no broker answers within a few seconds."""

    def __init__(self, settings: Settings, cluster: Cluster, data: DataPlane) -> None:
        self._settings, self._cluster, self._data = settings, cluster, data

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
        bound = retention.partition_bound(self._settings, partitions)
        segment = min(SEGMENT_BYTES, max(batch_bytes(self._settings), bound // SEGMENTS_KEPT))
        self._cluster.create(NewTopic(self._cluster.topic(stream), num_partitions=partitions, config={
            "retention.bytes": str(bound), "retention.ms": "-1", "segment.bytes": str(segment),
            "max.message.bytes": str(batch_bytes(self._settings)),
        }))

    def committed(self, stream: str, group: str) -> Position | None:
        """The head of a partition of which the group has committed nothing: it would begin there."""
        topic = self._cluster.topic(stream)
        partitions = self._cluster.partitions(topic)
        with self._cluster.raising(Unreachable, f"cannot look for the group {group} of {stream}"):
            found = positions.committed(self._cluster.client(), topic, partitions, self._cluster.group(stream, group))
        if not found:
            return None
        head = self._data.head(stream)
        return Position(stream, head.life, {**head.offsets, **found})

    def move_group(self, stream: str, group: str, to: Position) -> None:
        positions.move(self._cluster, self._cluster.topic(stream), self._cluster.group(stream, group), to.offsets)

    def forget_group(self, stream: str, group: str) -> None:
        def delete() -> None:
            name = self._cluster.group(stream, group)
            try:
                self._cluster.client().delete_consumer_groups([name], request_timeout=ANSWER_SECONDS)[name].result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                    raise

        self._cluster.once_settled(delete, f"cannot remove the group {group} of {stream}")

    def held(self, stream: str) -> Held:
        """Bytes are those of the broker's files, which are known where the broker is the local one."""
        head, end = self._data.head(stream), self._data.end(stream)
        with self._cluster.raising(Unreachable, f"cannot find the first events of {stream}"):
            oldest = positions.oldest_at(self._cluster.client(), self._cluster.topic(stream), list(head.offsets))
        held = retention.bytes_between(self._settings, self._cluster.topic(stream), head.offsets, end.offsets)
        holds = None if held is None else sum(held.values())
        return Held(stream, holds, self._settings.stream_retention_bytes, "bytes", oldest)

    def retention_used(self, stream: str, position: Position) -> float | None:
        """Of the partition that comes off worst, as each has a bound of its own.

        Within a file of the broker an event counts as much as any other of it.
        """
        head, end = self._data.head(stream), self._data.end(stream)
        unread = retention.bytes_between(self._settings, self._cluster.topic(stream), position.offsets, end.offsets)
        if unread is None:
            return None
        share = max(unread.values(), default=0) / retention.partition_bound(self._settings, len(end.offsets))
        return max(1.0, share) if position.lies_before(head) else share

    def durability_in_force(self) -> Durability | None:
        resource = ConfigResource(ConfigResource.Type.TOPIC, self._cluster.topic(RAW))
        self._cluster.partitions(self._cluster.topic(RAW))
        with self._cluster.raising(Unreachable, "cannot read the configuration of the streams"):
            asked = self._cluster.client().describe_configs([resource], request_timeout=ANSWER_SECONDS)
            found = asked[resource].result()
        return "fsync" if found["flush.messages"].value == "1" else "page-cache"
