"""What an operator, or the server's own retention, does to a stream behind the back of those who read it."""

from __future__ import annotations

from typing import Any, Protocol

import jpype
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from common.settings import Port, Settings
from middleware.base import Position
from tests.memory import Memory
from tests.stack import eventually


class Operator(Protocol):
    def truncate(self, to: Position) -> None:
        """Removes all events before a position, as retention does."""

    def delete(self, stream: str) -> None:
        """Removes the stream."""

    def scale(self, stream: str, partitions: int) -> None:
        """Has the stream go on in so many partitions, more than it had; returns when it does."""


class MemoryOperator:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def truncate(self, to: Position) -> None:
        for partition, offset in to.offsets.items():
            self._memory.truncate(to.stream, offset, partition)

    def delete(self, stream: str) -> None:
        self._memory.delete_stream(stream)

    def scale(self, stream: str, partitions: int) -> None:
        self._memory.add_partitions(stream, partitions)


class KafkaOperator:
    def __init__(self, settings: Settings) -> None:
        self._namespace = settings.namespace
        self._admin = AdminClient({"bootstrap.servers": settings.address(Port.KAFKA)})

    def truncate(self, to: Position) -> None:
        topic = f"{self._namespace}.{to.stream}"
        wanted = [TopicPartition(topic, partition, offset) for partition, offset in to.offsets.items()]
        for done in self._admin.delete_records(wanted).values():
            done.result()

    def delete(self, stream: str) -> None:
        topic = f"{self._namespace}.{stream}"
        self._admin.delete_topics([topic])[topic].result()
        eventually(f"{stream} is gone", lambda: topic not in self._topics())

    def scale(self, stream: str, partitions: int) -> None:
        """Adds partitions to those that there are."""
        topic = f"{self._namespace}.{stream}"
        self._admin.create_partitions([NewPartitions(topic, partitions)])[topic].result()
        eventually(f"{stream} is scaled", lambda: len(self._topics()[topic].partitions) == partitions)

    def _topics(self) -> dict[str, Any]:
        return self._admin.list_topics(timeout=10).topics


class PravegaOperator:
    """Uses the JVM that the middleware has started."""

    def __init__(self, settings: Settings) -> None:
        self._scope = settings.namespace
        uri = jpype.JClass("java.net.URI").create(f"tcp://{settings.address(Port.CONTROLLER)}")
        self._streams = jpype.JClass("io.pravega.client.admin.StreamManager").create(uri)

    def truncate(self, to: Position) -> None:
        segment, cut, offsets = (jpype.JClass(name) for name in (
            "io.pravega.client.segment.impl.Segment", "io.pravega.client.stream.impl.StreamCutImpl", "java.util.HashMap"
        ))
        positions = offsets()
        for partition, offset in to.offsets.items():
            positions.put(segment(self._scope, to.stream, partition), jpype.JClass("java.lang.Long").valueOf(offset))
        assert self._streams.truncateStream(self._scope, to.stream, cut(self._stream(to.stream), positions))

    def seal(self, stream: str) -> None:
        """Nothing can be added to it any more."""
        assert self._streams.sealStream(self._scope, stream)

    def delete(self, stream: str) -> None:
        self.seal(stream)
        assert self._streams.deleteStream(self._scope, stream)

    def scale(self, stream: str, partitions: int) -> None:
        """Seals the segments that there are, and splits them."""
        policy = jpype.JClass("io.pravega.client.stream.ScalingPolicy").fixed(partitions)
        configuration = jpype.JClass("io.pravega.client.stream.StreamConfiguration").builder().scalingPolicy(policy)
        assert self._streams.updateStream(self._scope, stream, configuration.build())
        eventually(f"{stream} is scaled", lambda: self._tail(stream).size() == partitions)

    def _tail(self, stream: str) -> Any:
        """Offset by segment."""
        return self._streams.fetchStreamInfo(self._scope, stream).get().getTailStreamCut().asImpl().getPositions()

    def _stream(self, stream: str) -> Any:
        return jpype.JClass("io.pravega.client.stream.Stream").of(self._scope, stream)


def operator(middleware: str, settings: Settings) -> Operator:
    return {"kafka": KafkaOperator, "pravega": PravegaOperator}[middleware](settings)
