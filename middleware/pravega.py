"""Pravega 0.13 by its Rust client. A partition is a segment, a consumer group a reader group, the namespace a scope.

What the client imposes: its calls hold the interpreter's lock, so nothing else of the process runs while one waits for
the server; it retries a lost connection without end and without repeating events; a reader group stores positions at
most every 3 s, and only when a slice of a segment is acquired or released.
"""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import pravega_client

from common.settings import Port, Settings
from middleware.base import (
    Consumer,
    EventTooLarge,
    Middleware,
    MiddlewareError,
    Producer,
    PublishFailed,
    SparkBinding,
    Start,
    UnknownStream,
    Unreachable,
)
from middleware.pravega_reader import PravegaConsumer, raising

log = logging.getLogger(__name__)

MAX_INFLIGHT_EVENTS = 10_000
"""Events sent and not yet acknowledged; the client's default, 0, waits for each (255/s on a disk)."""

CONNECT_SECONDS = 2.0

TRANSACTION_TIMEOUT_MS = 90_000
"""Lease of a Spark epoch; Pravega takes 10,000 to 600,000."""


class PravegaProducer(Producer):
    """Hands events to the client in groups of `publish_group_ms`: a group costs the servers about as much as an event.

    A group leaves when its time is over and the next event comes, or at `flush`.
    """

    def __init__(self, open_writer: Callable[[], Any], settings: Settings, stream: str) -> None:
        self._open_writer = open_writer
        self._writer = open_writer()
        self._stream = stream
        self._max_event_bytes = settings.max_event_bytes
        self._group_s = settings.publish_group_ms / 1000
        self._group: list[tuple[bytes, str]] = []
        self._group_ends = 0.0
        self._failure: PublishFailed | None = None

    def send(self, key: str, event: bytes) -> None:
        if len(event) > self._max_event_bytes:
            raise EventTooLarge(f"an event of {len(event)} bytes exceeds max_event_bytes, {self._max_event_bytes}")
        if not event:
            raise ValueError("an event must not be empty: readers of Pravega cannot pass it")
        now = time.monotonic()
        if not self._group:
            self._group_ends = now + self._group_s
        self._group.append((event, key))
        if now >= self._group_ends or len(self._group) >= MAX_INFLIGHT_EVENTS:
            self._hand_over()

    def flush(self) -> None:
        self._hand_over()
        if self._failure is None:
            self._attempt(self._writer.flush)
        if failure := self._failure:
            self._failure = None
            self._writer = self._open_writer()
            raise failure

    def _hand_over(self) -> None:
        group, self._group = self._group, []
        if self._failure is None:
            self._attempt(lambda: self._write(group))

    def _write(self, group: list[tuple[bytes, str]]) -> None:
        write = self._writer.write_event_bytes
        for event, key in group:
            write(event, key)

    def _attempt(self, call: Callable[[], None]) -> None:
        """A failure stays until `flush` raises it: what was sent since the last one must be sent again."""
        try:
            with raising(PublishFailed, f"Pravega did not take the events of {self._stream}"):
                call()
        except PublishFailed as failure:
            self._failure = failure

    def close(self) -> None:
        self.flush()


class Pravega(Middleware):
    """Raises Unreachable where the controller does not take connections."""

    name = "pravega"
    acknowledgement: Mapping[str, str] = {
        "fsync": "in the journal of the bookie and synced to disk before it is acknowledged; survives the machine",
        "page-cache": "written to the bookie's journal, not synced: survives its process, may be lost with the machine",
    }

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._uri = settings.middleware_uri or f"tcp://{settings.address(Port.CONTROLLER)}"
        self._scope = settings.namespace
        self._manager: Any = None

    def wait_until_ready(self, timeout: float) -> None:
        """Tries in a process of its own: where a server is half up, a call of the client may never return."""
        deadline = time.monotonic() + timeout
        command = [sys.executable, "-m", "middleware.pravega", json.dumps([self._uri, self._scope])]
        while (left := deadline - time.monotonic()) > 0:
            try:
                self._probe()
                subprocess.run(command, timeout=left, check=True, capture_output=True)
                return
            except (Unreachable, subprocess.SubprocessError) as error:
                log.debug("Pravega is not ready: %s", error)
                time.sleep(0.2)
        raise Unreachable(f"Pravega at {self._uri} was not ready within {timeout:.0f} s")

    def create_stream(self, stream: str, partitions: int) -> None:
        with raising(MiddlewareError, f"cannot create the stream {stream}"):
            self._client().create_scope(self._scope)
            self._client().create_stream_with_policy(
                self._scope, stream,
                pravega_client.StreamScalingPolicy.fixed_scaling_policy(partitions),
                pravega_client.StreamRetentionPolicy.by_size(self.settings.stream_retention_bytes),
            )

    def producer(self, stream: str) -> Producer:
        self._require(stream)
        return PravegaProducer(
            lambda: self._client().create_writer(self._scope, stream, MAX_INFLIGHT_EVENTS), self.settings, stream
        )

    def consumer(self, stream: str, group: str, member: str = "0", start: Start = "committed") -> Consumer:
        """`start` other than committed moves the whole group, so only its first member may ask for it."""
        self._require(stream)
        if start != "committed":
            self.forget_group(stream, group)
        with raising(Unreachable, f"cannot join the group {group} of {stream}"):
            name = self._reader_group(stream, group)
            readers = self._client().create_reader_group(name, self._scope, stream, start == "tail")
        return PravegaConsumer(readers, member, stream)

    def forget_group(self, stream: str, group: str) -> None:
        with raising(MiddlewareError, f"cannot remove the group {group} of {stream}"):
            for name in self._reader_groups(stream, group):
                self._client().delete_reader_group(name, self._scope)
                self._client().seal_stream(self._scope, name)
                self._client().delete_stream(self._scope, name)

    def _reader_group(self, stream: str, group: str) -> str:
        """Name of the group's reader group; of two members that make one at once, both take the first.

        A reader group cannot be moved, nor its name be used again once it is deleted. So each has a name of its own,
        and, as the client cannot list reader groups, an empty stream of that name tells that it exists.
        """
        if not (names := self._reader_groups(stream, group)):
            own = f"{_group_prefix(stream, group)}{time.time_ns()}"
            self._client().create_stream(self._scope, own, 1)
            names = self._reader_groups(stream, group)
        return names[0]

    def _reader_groups(self, stream: str, group: str) -> list[str]:
        prefix = _group_prefix(stream, group)
        return sorted(name for name in self._client().list_stream(self._scope) if name.startswith(prefix))

    def spark(self, stream: str) -> SparkBinding:
        where = {"controller": self._uri, "scope": self._scope}
        return SparkBinding(
            format="pravega",
            event_column="event", key_column="routing_key", stream_column="stream",
            read_options={
                **where,
                "stream": stream,
                "start_stream_cut": "earliest",
                "max_events_per_trigger": str(self.settings.max_events_per_trigger),
            },
            write_options={
                **where, "exactly_once": "true", "transaction_timeout_ms": str(TRANSACTION_TIMEOUT_MS),
            },
            exactly_once=True,
        )

    def close(self) -> None:
        self._manager = None

    def _client(self) -> Any:
        """The client's entry, made once; probes first, because it tries without end where nobody listens."""
        self._probe()
        if self._manager is None:
            with raising(Unreachable, f"cannot connect to {self._uri}"):
                self._manager = pravega_client.StreamManager(self._uri)
        return self._manager

    def _probe(self) -> None:
        address = urlsplit(self._uri)
        try:
            socket.create_connection((address.hostname, address.port), CONNECT_SECONDS).close()
        except OSError as error:
            raise Unreachable(f"Pravega does not answer at {self._uri}: {error}; is the instance up?") from error

    def _require(self, stream: str) -> None:
        with raising(Unreachable, f"cannot list the streams of {self._scope}"):
            known = self._client().list_stream(self._scope)
        if stream not in known:
            raise UnknownStream(f"no stream {stream!r} in the scope {self._scope!r}: `murmur up` creates the streams")


def _group_prefix(stream: str, group: str) -> str:
    return f"group.{stream}.{group}."


def _try(uri: str, scope: str) -> None:
    """Creates a scope and reads a reader group's table: both servers must answer."""
    manager = pravega_client.StreamManager(uri)
    manager.create_scope(scope)
    stream = "ready"
    one = pravega_client.StreamScalingPolicy.fixed_scaling_policy(1)
    manager.create_stream_with_policy(scope, stream, one, pravega_client.StreamRetentionPolicy.by_size(1 << 20))
    writer = manager.create_writer(scope, stream, 1)
    writer.write_event_bytes(b"ready", "ready")
    writer.flush()


if __name__ == "__main__":
    _try(*json.loads(sys.argv[1]))
