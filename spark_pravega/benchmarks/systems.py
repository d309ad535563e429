"""How Spark reads and writes each middleware."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

PARTITIONS = 4
EXACTLY, AT_LEAST = "exactly once", "at least once"

BATCH_BYTES = 8 << 20
TUNED_READ = {
    "kafka.max.partition.fetch.bytes": str(16 << 20),
    "kafka.max.poll.records": "100000",
    "kafka.fetch.max.wait.ms": "5",
}
TUNED_WRITE = {
    "kafka.enable.idempotence": "true",
    "kafka.linger.ms": "1000",
    "kafka.batch.size": str(BATCH_BYTES),
    "kafka.buffer.memory": str(64 << 20),
    "kafka.max.request.size": str(BATCH_BYTES),
}
"""How Spark's jobs of this repository have Kafka read and written: `middleware/kafka/spark.py` gives the reasons."""


@dataclass
class System:
    """How one middleware is named, reached, read and written."""

    name: str
    format: str
    options: dict[str, str]
    event: str
    read_from: Callable[[str], dict[str, str]]
    write_to: Callable[[str], dict[str, str]]
    create: Callable[[str, int], None]
    """A stream of so many segments or partitions."""

    guarantees: dict[str, dict[str, str]]
    """Of a write: name → options."""

    figures: dict[str, list[float]] = field(default_factory=dict)

    def reader(self, source: Any, stream: str) -> Any:
        return source.format(self.format).options(**self.options, **self.read_from(stream))

    def writer(self, sink: Any, stream: str, guarantee: str) -> Any:
        return sink.format(self.format).options(**self.options, **self.write_to(stream), **self.guarantees[guarantee])

    def note(self, found: dict[str, float]) -> None:
        for what, figure in found.items():
            self.figures.setdefault(what, []).append(figure)
            print(f"{self.name:>14}  {what}: {figure:,.1f}", flush=True)


def pravega(controller: str, spark: SparkSession) -> System:
    options = {"controller": controller, "scope": f"bench-{uuid.uuid4().hex[:8]}"}

    def create(stream: str, segments: int) -> None:
        nothing = spark.createDataFrame([], "event string").write.format("pravega").mode("append")
        nothing.options(**options).option("stream", stream).option("default_num_segments", segments).save()

    return System(
        "Pravega",
        "pravega",
        options,
        "event",
        read_from=lambda stream: {"stream": stream, "start_stream_cut": "earliest"},
        write_to=lambda stream: {"stream": stream},
        create=create,
        guarantees={EXACTLY: {}, AT_LEAST: {"exactly_once": "false"}},
    )


def kafka(servers: str, spark: SparkSession, tuned: bool) -> System:
    prefix = f"bench-{uuid.uuid4().hex[:8]}"

    def create(stream: str, partitions: int) -> None:
        java: Any = spark._jvm
        settings = java.java.util.Properties()
        settings.put("bootstrap.servers", servers)
        admin = java.org.apache.kafka.clients.admin.AdminClient.create(settings)
        topic = java.org.apache.kafka.clients.admin.NewTopic(f"{prefix}-{stream}", partitions, 1)
        topic.configs({"max.message.bytes": str(BATCH_BYTES)} if tuned else {})
        admin.createTopics(java.java.util.Collections.singleton(topic)).all().get()
        admin.close()

    read, write = (TUNED_READ, TUNED_WRITE) if tuned else ({}, {})
    return System(
        "Kafka, tuned" if tuned else "Kafka, defaults",
        "kafka",
        {"kafka.bootstrap.servers": servers},
        "value",
        read_from=lambda stream: {"subscribe": f"{prefix}-{stream}", "startingOffsets": "earliest", **read},
        write_to=lambda stream: {"topic": f"{prefix}-{stream}", "kafka.acks": "all", **write},
        create=create,
        guarantees={AT_LEAST: {}},
    )
