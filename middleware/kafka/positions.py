"""Offsets of a topic: what a group has committed, what Spark keeps of it, and how old the first event is.

What asks a client raises KafkaException.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from middleware.errors import MiddlewareError
from middleware.kafka.cluster import ANSWER_SECONDS, Cluster


def oldest_at(client: AdminClient, topic: str, partitions: Iterable[int]) -> float | None:
    """When the oldest event was sent, in seconds since the epoch; None if there is none."""
    wanted = {TopicPartition(topic, partition): OffsetSpec.for_timestamp(0) for partition in partitions}
    found = client.list_offsets(wanted, request_timeout=ANSWER_SECONDS).values()
    listed = [future.result() for future in found]
    return min((first.timestamp / 1000 for first in listed if first.offset >= 0), default=None)


def committed(client: AdminClient, topic: str, partitions: Iterable[int], group: str) -> dict[int, int]:
    """Of those partitions of which the group has committed something; empty if there is no such group."""
    wanted = [TopicPartition(topic, partition) for partition in partitions]
    request = [ConsumerGroupTopicPartitions(group, wanted)]
    answer = client.list_consumer_group_offsets(request, request_timeout=ANSWER_SECONDS)[group].result()
    return {at.partition: at.offset for at in _without_error(answer) if at.offset >= 0}


def move(cluster: Cluster, topic: str, group: str, to: Mapping[int, int]) -> None:
    """Commits for a group without members, once it has none. Raises MiddlewareError."""
    wanted = [TopicPartition(topic, partition, offset) for partition, offset in to.items()]
    request = [ConsumerGroupTopicPartitions(group, wanted)]

    def commit() -> None:
        answered = cluster.client().alter_consumer_group_offsets(request, request_timeout=ANSWER_SECONDS)
        _without_error(answered[group].result())

    cluster.once_settled(commit, f"cannot move the group {group}")


def from_spark(topic: str, source_offset: str) -> dict[int, int]:
    """Spark's text is `{topic: {partition: offset}}`, in JSON."""
    try:
        return {int(partition): int(offset) for partition, offset in json.loads(source_offset)[topic].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MiddlewareError(f"not an offset of the topic {topic} in a checkpoint: {source_offset[:200]}") from error


def to_spark(topic: str, offsets: Mapping[int, int]) -> str:
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}}, separators=(",", ":"))


def _without_error(answer: ConsumerGroupTopicPartitions) -> list[TopicPartition]:
    found = answer.topic_partitions or []
    for at in found:
        if at.error:
            raise KafkaException(at.error)
    return found
