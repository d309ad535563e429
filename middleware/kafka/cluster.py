"""The brokers of Kafka, asked about topics.

What the client imposes: it works in threads of its own and calls back only while it is polled; it answers a metadata
request about a topic that does not exist only by leaving it out of the list of all topics, so that is what is asked.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from common.settings import Settings
from middleware.errors import MiddlewareError, UnknownStream, Unreachable
from middleware.kafka.chatter import client_log
from middleware.kafka.consumer import SESSION_SECONDS
from middleware.kafka.ports import Port

T = TypeVar("T")

ANSWER_SECONDS = 5.0
CREATION_SECONDS = 20.0

NOT_SETTLED = (
    KafkaError.NON_EMPTY_GROUP, KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.FENCED_LEADER_EPOCH, KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError._NOENT,
)  # fmt: skip
"""A member with a name that has ended still counts as one until its session is over. A broker that has just started
reads its groups first, and for a moment tells of its partitions what held before, or (_NOENT) nothing."""

NO_BROKER_YET = (KafkaError.INVALID_REPLICATION_FACTOR, KafkaError._TIMED_OUT)
"""A broker that stood still, if only for want of CPU, is fenced for a moment: there is none for a new partition, or the
client knows of no controller until it asks anew."""

NO_ANSWER = (
    KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE,
)  # fmt: skip


class Cluster:
    """Raises Unreachable where no broker answers within a few seconds, UnknownStream where a topic does not exist."""

    def __init__(self, settings: Settings) -> None:
        self.servers = settings.middleware_uri or ",".join(
            settings.address(Port.BROKER, replica) for replica in range(settings.replicas)
        )
        """Addresses with commas between."""

        self._namespace = settings.namespace
        self._admin: AdminClient | None = None

    def topic(self, stream: str) -> str:
        """Name of the stream on the servers."""
        return f"{self._namespace}.{stream}"

    def group(self, stream: str, group: str) -> str:
        """Name of the group on the servers, where groups are not a stream's own."""
        return f"{self.topic(stream)}.{group}"

    def configuration(self) -> dict[str, Any]:
        """What every client is given; where it would write to the terminal, it logs."""
        return {
            "bootstrap.servers": self.servers,
            "client.id": "murmur",
            "reconnect.backoff.ms": 250,
            "reconnect.backoff.max.ms": 1000,
            "log.connection.close": False,
            "logger": client_log,
        }

    def client(self) -> AdminClient:
        if self._admin is None:
            self._admin = AdminClient(self.configuration())
        self._admin.poll(0)  # hands over what it wished to log
        return self._admin

    def metadata(self, timeout: float = ANSWER_SECONDS) -> Any:
        """Of the brokers and of all topics."""
        self._probe()
        with self.raising(Unreachable, "no broker answers; is the instance up?"):
            return self.client().list_topics(timeout=timeout)

    def partitions(self, topic: str) -> list[int]:
        found = self.metadata().topics.get(topic)
        if found is None:
            raise UnknownStream(f"no stream {topic!r} on Kafka at {self.servers}: `murmur up` creates the streams")
        return list(found.partitions)

    def create(self, topic: NewTopic) -> None:
        """Does nothing if it exists."""
        def created() -> None:
            try:
                self.client().create_topics([topic], request_timeout=ANSWER_SECONDS)[topic.topic].result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise

        self.metadata()
        self.once_settled(created, f"cannot create the topic {topic.topic}", passing=NOT_SETTLED + NO_BROKER_YET)
        self._await_leaders(topic.topic)

    def life(self, topic: str) -> str:
        """Kafka's id of the topic: one of the same name that is made later has another."""
        with self.raising(Unreachable, f"cannot identify the topic {topic}"):
            try:
                wanted = TopicCollection([topic])
                found = self.client().describe_topics(wanted, request_timeout=ANSWER_SECONDS)[topic].result()
            except KafkaException as error:
                if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise UnknownStream(f"the topic {topic} is gone: `murmur up` creates the streams") from error
                raise
        return str(found.topic_id)

    def offsets(self, topic: str, partitions: Iterable[int], of: OffsetSpec) -> dict[int, int]:
        """By partition, the first or the last offset of what consumers see: they wait for transactions to end."""
        wanted = {TopicPartition(topic, partition): of for partition in partitions}

        def listed() -> dict[int, int]:
            found = self.client().list_offsets(
                wanted, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=ANSWER_SECONDS
            )
            return {at.partition: future.result().offset for at, future in found.items()}

        return self.once_settled(listed, f"cannot find the offsets of {topic}", Unreachable)

    def once_settled(
        self, call: Callable[[], T], what: str, failure: type[MiddlewareError] = MiddlewareError,
        passing: tuple[int, ...] = NOT_SETTLED,
    ) -> T:
        """Answer of the servers as soon as they can give it."""
        deadline = time.monotonic() + SESSION_SECONDS + ANSWER_SECONDS
        with self.raising(failure, what):
            while True:
                try:
                    return call()
                except KafkaException as error:
                    if error.args[0].code() not in passing or time.monotonic() > deadline:
                        raise
                time.sleep(0.2)
                self.metadata()  # has the client learn anew who leads which partition

    @contextmanager
    def raising(self, error: type[MiddlewareError], what: str) -> Iterator[None]:
        """Turns what the client raises into one of ours, with the address; no answer in time is Unreachable."""
        try:
            yield
        except KafkaException as cause:
            kind = Unreachable if cause.args[0].code() in NO_ANSWER else error
            raise kind(f"{what} (Kafka at {self.servers}): {cause.args[0].str()}") from cause

    def close(self) -> None:
        self._admin = None

    def _await_leaders(self, topic: str) -> None:
        """A new topic is known to the controller before it is to the broker that is asked next."""
        deadline = time.monotonic() + CREATION_SECONDS
        while True:
            found = self.metadata().topics.get(topic)
            if found and found.partitions and all(one.leader >= 0 for one in found.partitions.values()):
                return
            if time.monotonic() > deadline:
                raise Unreachable(f"the topic {topic} has no leader on Kafka at {self.servers}")
            time.sleep(0.05)

    def _probe(self) -> None:
        """Fails at once where nobody listens; the client would try until its time is over."""
        refused: OSError | None = None
        for server in self.servers.split(","):
            host, _, port = server.rpartition("//")[2].rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()
                return
            except OSError as error:
                refused = error
        raise Unreachable(f"Kafka does not answer at {self.servers}: {refused}; is the instance up?")
