"""Writes Kafka: an idempotent producer that holds back instead of failing when its queue is full."""

from __future__ import annotations

from typing import Any

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, Message

from common.settings import Settings
from middleware.data import MAX_KEY_BYTES, Producer, check_size
from middleware.errors import PublishFailed

RECORD_OVERHEAD_BYTES = MAX_KEY_BYTES + (1 << 10)
"""What a record may have beside its event: the key, and some hundred bytes of its own and its batch's."""

BATCH_BYTES = 8 << 20
"""What goes to a partition in one request: more than a published group, as a rule. The client takes five times the CPU
time for a group that it has to send in several."""

MAX_INFLIGHT_EVENTS, MAX_INFLIGHT_KIB = 100_000, 64 << 10
DELIVERY_SECONDS = 120
"""How long an event is tried to be delivered, from `send` on."""

FULL_SECONDS = 0.005
FLUSH_SECONDS = 0.5
"""How long to wait in one piece, so that signals are seen."""


def batch_bytes(settings: Settings) -> int:
    """The largest batch of records that a stream must take: one of the largest record, if that is larger."""
    return max(BATCH_BYTES, settings.max_event_bytes + RECORD_OVERHEAD_BYTES)


def compression(settings: Settings) -> str:
    """Of what is sent: lz4 is what Confluent recommends for throughput (compared.py)."""
    return "lz4" if settings.store_tuning == "documented" else "none"


def options(settings: Settings) -> dict[str, Any]:
    """Of the client's producer, beside where it connects to."""
    return {
        "acks": "all",
        "enable.idempotence": True,
        "linger.ms": settings.publish_group_ms,
        "batch.size": batch_bytes(settings),
        "message.max.bytes": batch_bytes(settings),
        "message.timeout.ms": DELIVERY_SECONDS * 1000,
        "queue.buffering.max.messages": MAX_INFLIGHT_EVENTS,
        "queue.buffering.max.kbytes": MAX_INFLIGHT_KIB,
        "compression.type": compression(settings),
        "partitioner": "murmur2_random",  # as Java's, and so Spark's: a key has one partition, whoever writes it
    }


class KafkaProducer(Producer):
    """Events wait up to `publish_group_ms` for others of their partition; `flush` sends them at once."""

    def __init__(self, configuration: dict[str, Any], settings: Settings, topic: str) -> None:
        self._topic = topic
        self._max_event_bytes = settings.max_event_bytes
        self._configuration = {
            **configuration,
            **options(settings),
            "delivery.report.only.error": True,
            "on_delivery": self._undelivered,
        }
        self._client = confluent_kafka.Producer(self._configuration)
        self._failure: KafkaError | None = None

    def send(self, key: str, event: bytes) -> None:
        check_size(event, self._max_event_bytes)
        while self._failure is None:
            try:
                self._client.produce(self._topic, event, key.encode())
                return
            except BufferError:
                self._client.poll(FULL_SECONDS)  # also learns what could not be delivered, and gave its place free
            except KafkaException as error:
                self._failure = error.args[0]

    def flush(self) -> None:
        while self._client.flush(FLUSH_SECONDS):
            pass  # bounded by DELIVERY_SECONDS
        if failure := self._failure:
            self._failure = None
            self._client = confluent_kafka.Producer(self._configuration)  # after a fatal error the old one is of no use
            raise PublishFailed(f"Kafka did not take the events of {self._topic}: {failure.str()}")

    def close(self) -> None:
        self.flush()

    def _undelivered(self, error: KafkaError | None, message: Message) -> None:
        """A failure stays until `flush` raises it: what was sent since the last one must be sent again."""
        if error is not None:
            self._failure = self._failure or error
