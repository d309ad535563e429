"""The JetStream streams that are the partitions of a stream.

Stream `tweets-raw` of the namespace `murmur` is `murmur_tweets-raw_0`, `murmur_tweets-raw_1`, …; the subjects of the
first are `murmur.tweets-raw.0.>`. Sequences of a JetStream stream begin at 1 and have no gaps; an offset of ours is
the number of events before a place, so it is the sequence of the last event before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common.settings import Settings
from middleware.errors import MiddlewareError, UnknownStream
from middleware.nats.connection import Connection, Refused

SECOND = 1_000_000_000
"""In the nanoseconds of JetStream's configuration."""

REPEATS_S = 300
"""How long a partition knows which groups it has: longer than a producer tries to deliver one."""

UNKNOWN = 10059
"""JetStream's code for a stream that does not exist."""


@dataclass(frozen=True)
class Partition:
    """What a JetStream stream tells of itself; offsets as ours, `created` and `first_at` in its own text."""

    head: int
    end: int
    size: int
    created: str
    first_at: str

    @classmethod
    def of(cls, found: dict[str, Any]) -> Partition:
        state = found["state"]
        head = max(0, state["first_seq"] - 1) if state["messages"] else state["last_seq"]
        return cls(head, state["last_seq"], state["bytes"], found["created"], state["first_ts"])

    def bytes_after(self, offset: int) -> int:
        """Of the events behind an offset, all being of the mean size."""
        held = self.end - self.head
        return round(self.size * min(held, max(0, self.end - offset)) / held) if held else 0

    def oldest_at(self) -> float | None:
        """When the first event was stored, in seconds since the epoch; None if there is none."""
        return datetime.fromisoformat(self.first_at).timestamp() if self.end > self.head else None


class Streams:
    def __init__(self, settings: Settings, connection: Connection) -> None:
        self._settings, self._connection = settings, connection

    def name(self, stream: str, partition: int) -> str:
        return f"{self._settings.namespace}_{stream}_{partition}"

    def subject(self, stream: str, partition: int) -> str:
        """Of what this client publishes there."""
        return f"{self._settings.namespace}.{stream}.{partition}.app"

    def partitions(self, stream: str) -> dict[int, Partition]:
        """Those of the stream, in order. Raises UnknownStream or Unreachable."""
        first = self.name(stream, 0)[:-1]
        found = {
            int(one["config"]["name"].removeprefix(first)): Partition.of(one) for one in self._listed(stream)
            if one["config"]["name"].removeprefix(first).isdecimal()
        }
        if 0 not in found:  # it is made last
            raise UnknownStream(f"no stream {stream!r} in the namespace {self._settings.namespace!r} on NATS at "
                                f"{self._connection.uri}: `murmur up` creates the streams")
        if max(found) >= len(found):
            raise MiddlewareError(f"the stream {stream!r} on NATS lacks partitions: it has {sorted(found)} only")
        return dict(sorted(found.items()))

    def create(self, stream: str, partitions: int) -> None:
        """Does nothing if it exists. The first partition comes last: without that there is no stream."""
        try:
            self.partitions(stream)
        except UnknownStream:
            for one in self._listed(stream):  # the rest of a creation that was interrupted
                self._connection.ask(f"STREAM.DELETE.{one['config']['name']}")
            self.add(stream, range(partitions - 1, -1, -1), partitions)

    def add(self, stream: str, added: range, partitions: int) -> None:
        for partition in added:
            self._connection.ask(f"STREAM.CREATE.{self.name(stream, partition)}", **{
                "name": self.name(stream, partition),
                "subjects": [f"{self._settings.namespace}.{stream}.{partition}.>"],
                "max_bytes": self.bound(partitions), "discard": "old", "storage": "file", "num_replicas": 1,
                "duplicate_window": REPEATS_S * SECOND, "allow_atomic": True, "allow_direct": True,
            })

    def bound(self, partitions: int) -> int:
        """Bytes that each of so many partitions keeps."""
        return max(1, self._settings.stream_retention_bytes // partitions)

    def delete(self, stream: str) -> None:
        for partition in self.partitions(stream):
            self._connection.ask(f"STREAM.DELETE.{self.name(stream, partition)}")

    def truncate(self, stream: str, partition: int, offset: int) -> None:
        """Removes all events before it."""
        if offset:
            self._connection.ask(f"STREAM.PURGE.{self.name(stream, partition)}", seq=offset + 1)

    def exists(self, stream: str, partition: int) -> bool:
        try:
            self._connection.ask(f"STREAM.INFO.{self.name(stream, partition)}")
        except Refused as error:
            if error.code == UNKNOWN:
                return False
            raise
        return True

    def is_synced(self, stream: str) -> bool:
        """Whether each partition leaves it to the server when an event is synced, and none puts it off by itself."""
        return all(one["config"].get("persist_mode", "default") == "default" for one in self._listed(stream))

    def _listed(self, stream: str) -> Iterator[dict[str, Any]]:
        offset, total = 0, 1
        while offset < total:
            page = self._connection.ask(
                "STREAM.LIST", subject=f"{self._settings.namespace}.{stream}.>", offset=offset
            )
            found = page["streams"] or []
            yield from found
            offset, total = offset + max(1, len(found)), page["total"]
