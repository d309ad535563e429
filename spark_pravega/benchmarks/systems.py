"""How Spark reads and writes each middleware."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

PARTITIONS = 4
EXACTLY, AT_LEAST = "exactly once", "at least once"


@dataclass
class System:
    """How one middleware is named, reached, read and written."""

    name: str
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
        return source.format(self.name).options(**self.options, **self.read_from(stream))

    def writer(self, sink: Any, stream: str, guarantee: str) -> Any:
        return sink.format(self.name).options(**self.options, **self.write_to(stream), **self.guarantees[guarantee])

    def note(self, found: dict[str, float]) -> None:
        for what, figure in found.items():
            self.figures.setdefault(what, []).append(figure)
            print(f"{self.name:>8}  {what}: {figure:,.1f}", flush=True)


def pravega(controller: str, spark: SparkSession) -> System:
    options = {"controller": controller, "scope": f"bench-{uuid.uuid4().hex[:8]}"}

    def create(stream: str, segments: int) -> None:
        nothing = spark.createDataFrame([], "event string").write.format("pravega").mode("append")
        nothing.options(**options).option("stream", stream).option("default_num_segments", segments).save()

    return System(
        "pravega",
        options,
        "event",
        read_from=lambda stream: {"stream": stream, "start_stream_cut": "earliest"},
        write_to=lambda stream: {"stream": stream},
        create=create,
        guarantees={EXACTLY: {}, AT_LEAST: {"exactly_once": "false"}},
    )


def kafka(servers: str, spark: SparkSession) -> System:
    prefix = f"bench-{uuid.uuid4().hex[:8]}"

    def create(stream: str, partitions: int) -> None:
        java: Any = spark._jvm
        settings = java.java.util.Properties()
        settings.put("bootstrap.servers", servers)
        admin = java.org.apache.kafka.clients.admin.AdminClient.create(settings)
        topic = java.org.apache.kafka.clients.admin.NewTopic(f"{prefix}-{stream}", partitions, 1)
        admin.createTopics(java.java.util.Collections.singleton(topic)).all().get()
        admin.close()

    return System(
        "kafka",
        {"kafka.bootstrap.servers": servers},
        "value",
        read_from=lambda stream: {"subscribe": f"{prefix}-{stream}", "startingOffsets": "earliest"},
        write_to=lambda stream: {"topic": f"{prefix}-{stream}", "kafka.acks": "all"},
        create=create,
        guarantees={AT_LEAST: {}},
    )
