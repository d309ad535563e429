"""Pravega 0.13 by its own Java client. A partition is a segment, the namespace a scope."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from common.settings import Durability, Port, Settings
from common.storage.held import Held
from common.tweets import sent_at
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
from middleware.pravega import cuts, jvm
from middleware.pravega.consumer import PravegaConsumer, first_events, life
from middleware.pravega.group import LEASE_S, Group
from middleware.pravega.journal import journal_durability
from middleware.pravega.jvm import pairs, raising
from middleware.pravega.producer import MAX_IN_FLIGHT, PravegaProducer

log = logging.getLogger(__name__)

CONNECT_SECONDS = 2.0
CALL_SECONDS = 10.0
RETRY_SECONDS = 0.3
CREATE_ATTEMPTS = 3
"""A controller on a busy disk may take longer than one call to make the segments, and goes on with them at the next."""

EPOCH_BITS = 32
"""The lower bits of a segment's id number it; those above count how often its stream had been scaled when it began."""

SPARK_BATCH_BYTES = 64 << 20
"""What a micro-batch of Spark reads at most, unless a number of events is set: that has to be counted by reading."""

TRANSACTION_TIMEOUT_MS = 90_000
"""Lease of a Spark epoch; Pravega takes 10,000 to 600,000."""


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
        self._connection: Any = None

    def wait_until_ready(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while True:
            try:
                with raising(Unreachable, "Pravega is not ready"):
                    self._connected().prepare()
                return
            except Unreachable as error:
                if time.monotonic() > deadline:
                    raise Unreachable(
                        f"Pravega at {self._uri} was not ready within {timeout:.0f} s: {error}"
                    ) from error
            time.sleep(0.2)

    def create_stream(self, stream: str, partitions: int) -> None:
        connection = self._connected()
        for attempt in range(1, CREATE_ATTEMPTS + 1):
            try:
                with raising(MiddlewareError, f"cannot create the stream {stream}"):
                    return connection.createStream(stream, partitions, self.settings.stream_retention_bytes)
            except Unreachable as error:
                if attempt == CREATE_ATTEMPTS:
                    raise
                log.warning("%s; trying again", error)

    def producer(self, stream: str) -> Producer:
        self._require(stream)
        return PravegaProducer(lambda: self._writer(stream), self.settings, stream)

    def consumer(self, stream: str, group: str, member: str = "", start: Start = "committed") -> Consumer:
        """`start` other than committed moves the whole group, so only its first member may ask for it."""
        self._require(stream)
        if start != "committed":
            self.forget_group(stream, group)
        with raising(Unreachable, f"cannot join the group {group} of {stream}"):
            connection = self._connected()
            record = connection.group(stream, group)
            if record.read() is None:
                first = connection.tail(stream) if start == "tail" else connection.head(stream)
                record.replace(Group(pairs(first)).to_bytes())  # of two members that make it, the first one does
            return PravegaConsumer(
                connection.reader(stream), record, lambda: self._first_offsets(stream), stream, group, member,
                from_head=start == "head",
            )

    def end(self, stream: str) -> Position:
        """Raises MiddlewareError for a stream that was scaled: consumers read the segments that it was made with."""
        self._require(stream)
        with raising(Unreachable, f"cannot find the end of {stream}"):
            offsets = pairs(self._connected().tail(stream))
        if any(segment >> EPOCH_BITS for segment in offsets):
            raise MiddlewareError(f"the stream {stream} was scaled, which its consumers cannot follow: make it anew")
        return Position(stream, life(offsets), offsets)

    def forget_group(self, stream: str, group: str) -> None:
        with raising(MiddlewareError, f"cannot remove the group {group} of {stream}"):
            self._connected().group(stream, group).remove()

    def head(self, stream: str) -> Position:
        self._require(stream)
        offsets = self._first_offsets(stream)
        return Position(stream, life(offsets), offsets)

    def committed(self, stream: str, group: str) -> Position | None:
        self._require(stream)
        with raising(Unreachable, f"cannot look for the group {group} of {stream}"):
            record = self._connected().group(stream, group).read()
        if record is None:
            return None
        offsets = Group.from_bytes(bytes(record)).offsets
        return Position(stream, life(offsets), offsets)

    def move_group(self, stream: str, group: str, to: Position) -> None:
        deadline = time.monotonic() + LEASE_S + CALL_SECONDS
        with raising(MiddlewareError, f"cannot move the group {group} of {stream}"):
            record = self._connected().group(stream, group)
            while True:
                seen = record.read()
                living = Group.from_bytes(bytes(seen)).living(time.time()) if seen is not None else []
                if not living and record.replace(Group(dict(to.offsets)).to_bytes()):
                    return
                if time.monotonic() > deadline:
                    raise MiddlewareError(f"cannot move the group {group} of {stream}: {', '.join(living)} reads")
                time.sleep(RETRY_SECONDS)

    def held(self, stream: str) -> Held:
        """Pravega does not tell when an event was written: the first ones of the segments may."""
        head, end = self.head(stream).offsets, self.end(stream).offsets
        with raising(Unreachable, f"cannot read the first events of {stream}"):
            reader = self._connected().reader(stream)
            try:
                sent = [sent_at(event) for event in first_events(reader, head, end)]
            finally:
                reader.close()
        oldest = min((at for at in sent if at is not None), default=None)
        return Held(stream, cuts.bytes_between(head, end), self.settings.stream_retention_bytes, "bytes", oldest)

    def retention_used(self, stream: str, position: Position) -> float | None:
        head, unread = self.head(stream), cuts.bytes_between(position.offsets, self.end(stream).offsets)
        share = unread / self.settings.stream_retention_bytes
        return max(1.0, share) if position.lies_before(head) else share

    def spark_position(self, stream: str, source_offset: str) -> Position:
        self._connected()
        offsets = cuts.from_spark(source_offset)
        return Position(stream, life(offsets), offsets)

    def spark_offset(self, position: Position) -> str:
        self._connected()
        return cuts.to_spark(self._scope, position.stream, position.offsets)

    def durability_in_force(self) -> Durability | None:
        return journal_durability(self.settings)

    def spark(self, stream: str) -> SparkBinding:
        where = {"controller": self._uri, "scope": self._scope}
        events = self.settings.max_events_per_trigger
        limit = {"max_events_per_trigger": str(events)} if events else {"max_bytes_per_trigger": str(SPARK_BATCH_BYTES)}
        return SparkBinding(
            format="pravega",
            event_column="event", key_column="routing_key", stream_column="stream",
            partition_column="segment_id", offset_column="offset",
            read_options={
                **where,
                "stream": stream,
                "start_stream_cut": "earliest",
                **limit,
            },
            write_options={
                **where, "exactly_once": "true", "transaction_timeout_ms": str(TRANSACTION_TIMEOUT_MS),
                # A transaction that is being committed cannot fail any more: the next batch need not wait for it.
                "read_after_write_consistency": "false",
            },
            repeating_options={"exactly_once": "false"},
            exactly_once=True,
            initial_offset=("initial-offset", ""),
            signs_of_loss=("was truncated beyond the place to read from",),
        )

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _writer(self, stream: str) -> Any:
        with raising(Unreachable, f"cannot write to {stream}"):
            return self._connected().writer(stream, MAX_IN_FLIGHT)

    def _first_offsets(self, stream: str) -> dict[int, int]:
        with raising(Unreachable, f"cannot find the first events of {stream}"):
            return pairs(self._connected().head(stream))

    def _connected(self) -> Any:
        """The connection, made once; probes first, because the client tries for long where nobody listens."""
        if self._connection is None:
            self._probe()
            self._connection = jvm.connection(
                self.settings.jar_dir / "pravega-client", self._uri, self._scope, CALL_SECONDS,
                self.settings.jvm_options,
            )
        return self._connection

    def _probe(self) -> None:
        address = urlsplit(self._uri)
        try:
            socket.create_connection((address.hostname, address.port), CONNECT_SECONDS).close()
        except OSError as error:
            raise Unreachable(f"Pravega does not answer at {self._uri}: {error}; is the instance up?") from error

    def _require(self, stream: str) -> None:
        with raising(Unreachable, f"cannot look for the stream {stream} at {self._uri}"):
            known = self._connected().exists(stream)
        if not known:
            raise UnknownStream(f"no stream {stream!r} in the scope {self._scope!r}: `murmur up` creates the streams")
