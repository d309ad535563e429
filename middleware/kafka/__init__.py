"""Kafka by librdkafka. A stream is a topic, the namespace the prefix of its name.

What the client imposes: it works in threads of its own and calls back only while it is polled; it answers a metadata
request about a topic that does not exist only by leaving it out of the list of all topics, so that is what is asked.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from confluent_kafka import (
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec

from common.held import Held
from common.settings import Durability, Port, Settings
from common.tweets import RAW
from middleware.base import (
    Consumer,
    Middleware,
    MiddlewareError,
    Position,
    Producer,
    SparkBinding,
    Start,
    UnknownStream,
    Unreachable,
)
from middleware.kafka import positions, retention
from middleware.kafka.consumer import SESSION_SECONDS, KafkaConsumer
from middleware.kafka.producer import KafkaProducer, batch_bytes

log = logging.getLogger(__name__)
client_log = logging.getLogger(f"{__name__}.client")
T = TypeVar("T")

ANSWER_SECONDS = 5.0
CREATION_SECONDS = 20.0

SEGMENT_BYTES = 128 << 20
"""Files of a partition; retention removes whole ones, so they are smaller where little is kept."""

SEGMENTS_KEPT = 8

SPARK_BATCH_EVENTS = 100_000
"""What a micro-batch of Spark reads at most, unless set."""

SPARK_SEND_WAIT_MS = 1000
"""Longer than a task takes, as a rule: it sends at its end, in one batch if that holds it, for readers to get it whole.
*Trending* counts what is there, and would count a micro-batch that comes in pieces in as many of its own."""

SPARK_SEND_BUFFER_BYTES = 64 << 20
"""What all tasks of a process keep until it is acknowledged; Java's default is 32 MiB, four batches."""

SPARK_READ_BYTES = 16 << 20
"""What one request of a task fetches of a partition; Java's default is 1 MiB, handed out by 500 events."""

SPARK_READ_WAIT_MS = 5
"""How long a fetch waits at the broker where nothing has come; Java's default is 500. After each piece Spark asks where
the stream begins and ends, and that request waits behind the fetch which Java's client has sent ahead."""

NOT_SETTLED = (
    KafkaError.NON_EMPTY_GROUP, KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.FENCED_LEADER_EPOCH, KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError._NOENT,
)  # fmt: skip
"""A member with a name that has ended still counts as one until its session is over. A broker that has just started
reads its groups first, and for a moment tells of its partitions what held before, or (_NOENT) nothing."""

CHATTER_SECONDS = 10.0


class Seldom(logging.Filter):
    """Lets a kind of message of the client pass once in CHATTER_SECONDS: it reports every attempt to connect.

    As information only: what matters of it is raised, too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind, now = " ".join(record.getMessage().split(None, 2)[:2]), time.monotonic()
        if now - self._last.get(kind, -CHATTER_SECONDS) < CHATTER_SECONDS:
            return False
        self._last[kind] = now
        record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
        return True


client_log.addFilter(Seldom())


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
        self._servers = settings.middleware_uri or settings.address(Port.KAFKA)
        self._admin: AdminClient | None = None

    def wait_until_ready(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            try:
                if self._topics(min(left, ANSWER_SECONDS)).brokers:
                    return
            except Unreachable as error:
                log.debug("Kafka is not ready: %s", error)
            time.sleep(0.1)
        raise Unreachable(f"Kafka at {self._servers} was not ready within {timeout:.0f} s")

    def create_stream(self, stream: str, partitions: int) -> None:
        bound = retention.partition_bound(self.settings, partitions)
        segment = min(SEGMENT_BYTES, max(batch_bytes(self.settings), bound // SEGMENTS_KEPT))
        topic = NewTopic(self.stream_name(stream), num_partitions=partitions, config={
            "retention.bytes": str(bound), "retention.ms": "-1", "segment.bytes": str(segment),
            "max.message.bytes": str(batch_bytes(self.settings)),
        })
        self._topics()
        with self._raising(MiddlewareError, f"cannot create the stream {stream}"):
            try:
                self._client().create_topics([topic], request_timeout=CREATION_SECONDS)[topic.topic].result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
        self._await_leaders(stream)

    def _await_leaders(self, stream: str) -> None:
        """A new topic is known to the controller before it is to the broker that is asked next."""
        deadline = time.monotonic() + CREATION_SECONDS
        while True:
            topic = self._topics().topics.get(self.stream_name(stream))
            if topic and topic.partitions and all(one.leader >= 0 for one in topic.partitions.values()):
                return
            if time.monotonic() > deadline:
                raise Unreachable(f"the stream {stream} has no leader on Kafka at {self._servers}")
            time.sleep(0.05)

    def producer(self, stream: str) -> Producer:
        self._partitions(stream)
        return KafkaProducer(self._configuration(), self.settings, self.stream_name(stream))

    def consumer(self, stream: str, group: str, member: str = "", start: Start = "committed") -> Consumer:
        self._partitions(stream)
        if start != "committed":
            self.move_group(stream, group, self.head(stream) if start == "head" else self.end(stream))
        with self._raising(Unreachable, f"cannot join the group {group} of {stream}"):
            return KafkaConsumer(
                self._configuration(), self.stream_name(stream), self._group(stream, group), member,
                lambda: self._life(stream), from_head=start == "head",
            )

    def end(self, stream: str) -> Position:
        return self._edge(stream, OffsetSpec.latest())

    def forget_group(self, stream: str, group: str) -> None:
        def delete() -> None:
            name = self._group(stream, group)
            try:
                self._client().delete_consumer_groups([name], request_timeout=ANSWER_SECONDS)[name].result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                    raise

        self._once_settled(delete, f"cannot remove the group {group} of {stream}")

    def head(self, stream: str) -> Position:
        return self._edge(stream, OffsetSpec.earliest())

    def committed(self, stream: str, group: str) -> Position | None:
        """The head of a partition of which the group has committed nothing: it would begin there."""
        partitions, topic = self._partitions(stream), self.stream_name(stream)
        with self._raising(Unreachable, f"cannot look for the group {group} of {stream}"):
            found = positions.committed(self._client(), topic, partitions, self._group(stream, group))
        if not found:
            return None
        head = self.head(stream)
        return Position(stream, head.life, {**head.offsets, **found})

    def move_group(self, stream: str, group: str, to: Position) -> None:
        self._once_settled(
            lambda: positions.commit(self._client(), self.stream_name(stream), self._group(stream, group), to.offsets),
            f"cannot move the group {group} of {stream}",
        )

    def held(self, stream: str) -> Held:
        """Bytes are those of the broker's files, which are known where the broker is the local one."""
        head, end = self.head(stream), self.end(stream)
        with self._raising(Unreachable, f"cannot find the first events of {stream}"):
            oldest = positions.oldest_at(self._client(), self.stream_name(stream), list(head.offsets))
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
        return Position(
            stream, self._life(stream), positions.from_spark(self.stream_name(stream), source_offset)
        )

    def spark_offset(self, position: Position) -> str:
        return positions.to_spark(self.stream_name(position.stream), position.offsets)

    def _edge(self, stream: str, of: OffsetSpec) -> Position:
        partitions, life = self._partitions(stream), self._life(stream)
        offsets = self._once_settled(
            lambda: self._offsets(stream, partitions, of), f"cannot find the offsets of {stream}", Unreachable
        )
        return Position(stream, life, offsets)

    def _offsets(self, stream: str, partitions: list[int], of: OffsetSpec) -> dict[int, int]:
        """By partition, the first or the last offset of what consumers see: they wait for transactions to end."""
        found = self._client().list_offsets(
            {TopicPartition(self.stream_name(stream), partition): of for partition in partitions},
            isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=ANSWER_SECONDS,
        )
        return {at.partition: future.result().offset for at, future in found.items()}

    def _life(self, stream: str) -> str:
        """Kafka's id of the topic: one of the same name that is made later has another."""
        topic = self.stream_name(stream)
        with self._raising(Unreachable, f"cannot identify the stream {stream}"):
            try:
                wanted = TopicCollection([topic])
                found = self._client().describe_topics(wanted, request_timeout=ANSWER_SECONDS)[topic].result()
            except KafkaException as error:
                if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise UnknownStream(f"the stream {stream!r} is gone: `murmur up` creates the streams") from error
                raise
        return str(found.topic_id)

    def _once_settled(self, call: Callable[[], T], what: str, failure: type[MiddlewareError] = MiddlewareError) -> T:
        """Answer of the servers as soon as they can give it."""
        deadline = time.monotonic() + SESSION_SECONDS + ANSWER_SECONDS
        with self._raising(failure, what):
            while True:
                try:
                    return call()
                except KafkaException as error:
                    if error.args[0].code() not in NOT_SETTLED or time.monotonic() > deadline:
                        raise
                time.sleep(0.2)
                self._topics()  # has the client learn anew who leads which partition

    def durability_in_force(self) -> Durability | None:
        resource = ConfigResource(ConfigResource.Type.TOPIC, self.stream_name(RAW))
        self._partitions(RAW)
        with self._raising(Unreachable, "cannot read the configuration of the streams"):
            found = self._client().describe_configs([resource], request_timeout=ANSWER_SECONDS)[resource].result()
        return "fsync" if found["flush.messages"].value == "1" else "page-cache"

    def spark(self, stream: str) -> SparkBinding:
        where = {"kafka.bootstrap.servers": self._servers}
        return SparkBinding(
            format="kafka",
            event_column="value", key_column="key", stream_column="topic",
            partition_column="partition", offset_column="offset",
            read_options={
                **where,
                "subscribe": self.stream_name(stream),
                "startingOffsets": "earliest",
                "failOnDataLoss": "true",
                "maxOffsetsPerTrigger": str(self.settings.max_events_per_trigger or SPARK_BATCH_EVENTS),
                "kafka.max.partition.fetch.bytes": str(SPARK_READ_BYTES),
                "kafka.max.poll.records": str(SPARK_BATCH_EVENTS),
                "kafka.fetch.max.wait.ms": str(SPARK_READ_WAIT_MS),
            },
            write_options={
                **where,
                "kafka.acks": "all",
                "kafka.enable.idempotence": "true",
                "kafka.linger.ms": str(SPARK_SEND_WAIT_MS),
                "kafka.batch.size": str(batch_bytes(self.settings)),
                "kafka.buffer.memory": str(SPARK_SEND_BUFFER_BYTES),
                "kafka.max.request.size": str(batch_bytes(self.settings)),
            },
            batch_events=SPARK_BATCH_EVENTS,
            initial_offset=("0", "\0v1\n"),
            signs_of_loss=("KAFKA_DATA_LOSS", "OffsetOutOfRangeException"),
        )

    def stream_name(self, stream: str) -> str:
        return f"{self.settings.namespace}.{stream}"

    def close(self) -> None:
        self._admin = None

    def _group(self, stream: str, group: str) -> str:
        return f"{self.stream_name(stream)}.{group}"

    def _configuration(self) -> dict[str, Any]:
        """What every client is given; where it would write to the terminal, it logs."""
        return {
            "bootstrap.servers": self._servers,
            "client.id": "murmur",
            "reconnect.backoff.ms": 250,
            "reconnect.backoff.max.ms": 1000,
            "log.connection.close": False,
            "logger": client_log,
        }

    def _client(self) -> AdminClient:
        if self._admin is None:
            self._admin = AdminClient(self._configuration())
        self._admin.poll(0)  # hands over what it wished to log
        return self._admin

    def _probe(self) -> None:
        """Fails at once where nobody listens; the client would try until its time is over."""
        refused: OSError | None = None
        for server in self._servers.split(","):
            host, _, port = server.rpartition("//")[2].rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()
                return
            except OSError as error:
                refused = error
        raise Unreachable(f"Kafka does not answer at {self._servers}: {refused}; is the instance up?")

    def _topics(self, timeout: float = ANSWER_SECONDS) -> Any:
        """Metadata of the cluster and of all topics."""
        self._probe()
        with self._raising(Unreachable, "no broker answers; is the instance up?"):
            return self._client().list_topics(timeout=timeout)

    def _partitions(self, stream: str) -> list[int]:
        topic = self._topics().topics.get(self.stream_name(stream))
        if topic is None:
            raise UnknownStream(
                f"no stream {stream!r} on Kafka at {self._servers} (topic {self.stream_name(stream)}): "
                "`murmur up` creates the streams"
            )
        return list(topic.partitions)

    @contextmanager
    def _raising(self, error: type[MiddlewareError], what: str) -> Iterator[None]:
        """Turns what the client raises into one of ours, with the address."""
        try:
            yield
        except KafkaException as cause:
            raise error(f"{what} (Kafka at {self._servers}): {cause.args[0].str()}") from cause


