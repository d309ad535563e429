"""Writes to a stream of NATS: a published group is one atomic batch of its partition, with one acknowledgement."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

from nats.aio.client import Client

from common.settings import Settings
from middleware.data import Producer, check_size
from middleware.errors import EventTooLarge, MiddlewareError, PublishFailed
from middleware.nats.connection import ANSWER_SECONDS, API, NO_ANSWER, Connection, Refused
from middleware.nats.streams import Streams
from middleware.partitioning import partition_of

MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES = 20_000, 64 << 20
"""What was sent and is not yet acknowledged; an event may always be."""

MAX_GROUP_EVENTS, MAX_GROUP_BYTES = 2_000, 4 << 20

MAX_BATCH_EVENTS, MAX_BATCH_BYTES = 5_000, 8 << 20
"""One batch goes out in one piece, and must fit into what the server keeps of a stream's messages until it has looked
at them: `max_buffered_msgs`, 10,000 unless it is configured otherwise."""

MAX_KEPT_KEY_BYTES = 32 << 10
"""Of a key as a header has it. JetStream takes 64 KiB of headers with a message: a longer key decides the partition,
and is not kept."""

HEADER_BYTES = 256
"""Of all other headers of a message, at most. A server sends away whoever exceeds its `max_payload`."""

DELIVERY_S, PAUSE_S = 120.0, 0.25
"""How long a batch is tried to be delivered."""

SLICE_S = 0.2
"""How long to wait in one piece, so that signals are seen."""

REPEATED, INCOMPLETE = 10201, 10176
"""JetStream's codes for a batch of which it has a message already, since an earlier try was stored and its answer lost;
and for one of which it lacks messages, since it was started anew meanwhile or has too many others unfinished."""

log = logging.getLogger(__name__)


class Event(NamedTuple):
    key: str
    content: bytes


class NatsProducer(Producer):
    """Hands events to the client's thread in groups of `publish_group_ms`: when the time of one is over and the next
    event comes, or at `flush`. What waits there for the batch before it goes as one batch. Of no use any more once the
    connection is closed."""

    def __init__(self, settings: Settings, connection: Connection, stream: str) -> None:
        streams = Streams(settings, connection)
        partitions = streams.partitions(stream)
        self._max_event_bytes, self._max_payload = settings.max_event_bytes, connection.client.max_payload
        self._group_s, self._group_ends = settings.publish_group_ms / 1000, 0.0
        self._groups: dict[int, list[Event]] = {partition: [] for partition in partitions}
        self._grouped = self._grouped_bytes = 0
        self._delivery = Delivery(connection.loop.is_running)
        self._batches = {
            partition: Batches(connection, streams.subject(stream, partition), self._delivery,
                               lambda partition=partition: streams.exists(stream, partition))  # type: ignore[misc]
            for partition in partitions
        }

    def send(self, key: str, event: bytes) -> None:
        check_size(event, self._max_event_bytes)
        most = self._max_payload - min(3 * len(key), MAX_KEPT_KEY_BYTES) - HEADER_BYTES
        if len(event) > most:
            raise EventTooLarge(f"an event of {len(event)} bytes, with its headers, exceeds the server's max_payload, "
                                f"{self._max_payload}")
        now = time.monotonic()
        if not self._grouped:
            self._group_ends = now + self._group_s
        self._groups[partition_of(key.encode(), len(self._groups))].append(Event(key, event))
        self._grouped += 1
        self._grouped_bytes += len(event)
        if now >= self._group_ends or self._grouped >= MAX_GROUP_EVENTS or self._grouped_bytes >= MAX_GROUP_BYTES:
            self._hand_over()

    def flush(self) -> None:
        self._hand_over()
        self._delivery.wait_until(lambda events, _: not events)
        if failure := self._delivery.take_failure():
            raise PublishFailed(f"NATS did not take the events: {failure}") from failure

    def close(self) -> None:
        try:
            self.flush()
        finally:
            for batches in self._batches.values():
                batches.close()

    def _hand_over(self) -> None:
        """Blocks while too many events are in flight. What failed is known at `flush`."""
        for partition, group in self._groups.items():
            if group:
                self._groups[partition] = []
                self._delivery.wait_until(lambda events, size: events < MAX_IN_FLIGHT and size < MAX_IN_FLIGHT_BYTES)
                self._batches[partition].add(group)
        self._grouped = self._grouped_bytes = 0


class Delivery:
    """What is in flight, and the first failure since it was last asked for; shared with the client's thread."""

    def __init__(self, is_open: Callable[[], bool]) -> None:
        """`is_open`: whether the client's thread still runs."""
        self._is_open = is_open
        self._changed = threading.Condition()
        self._events = self._bytes = 0
        self.failure: Exception | None = None

    def began(self, events: int, size: int) -> None:
        with self._changed:
            self._events += events
            self._bytes += size

    def ended(self, events: int, size: int, failure: Exception | None) -> None:
        with self._changed:
            self._events -= events
            self._bytes -= size
            self.failure = self.failure or failure
            self._changed.notify_all()

    def wait_until(self, condition: Callable[[int, int], bool]) -> None:
        """`condition`: of the events and bytes in flight. Raises PublishFailed once another thread has closed the
        connection."""
        with self._changed:
            while not condition(self._events, self._bytes):
                if not self._is_open():
                    raise PublishFailed(f"the connection to NATS was closed with {self._events} events in flight")
                self._changed.wait(SLICE_S)

    def take_failure(self) -> Exception | None:
        with self._changed:
            failure, self.failure = self.failure, None
            return failure


class Batches:
    """Publishes to one partition, a batch after the other; in the client's thread, but for `add` and `close`."""

    def __init__(
        self, connection: Connection, subject: str, delivery: Delivery, exists: Callable[[], bool]
    ) -> None:
        self._connection, self._client, self._subject, self._delivery = connection, connection.client, subject, delivery
        self._exists = exists
        self._name, self._number = uuid.uuid4().hex[:8], 0
        self._waiting: asyncio.Queue[list[Event]] = asyncio.Queue()
        self._task = asyncio.run_coroutine_threadsafe(self._publish_all(), connection.loop)

    def add(self, group: list[Event]) -> None:
        self._delivery.began(len(group), _size(group))
        self._connection.loop.call_soon_threadsafe(self._waiting.put_nowait, group)

    def close(self) -> None:
        self._task.cancel()

    async def _publish_all(self) -> None:
        while True:
            batch = list(await self._waiting.get())
            size = _size(batch)
            while len(batch) < MAX_BATCH_EVENTS - MAX_GROUP_EVENTS and size < MAX_BATCH_BYTES \
                    and not self._waiting.empty():
                batch += (more := self._waiting.get_nowait())
                size += _size(more)
            failure: Exception | None = None
            try:
                if self._delivery.failure is None:  # or else all is sent again
                    await self._deliver(batch)
            except Exception as error:
                failure = error
            self._delivery.ended(len(batch), size, failure)

    async def _deliver(self, batch: list[Event]) -> None:
        """Tries until JetStream has it once: it tells a batch that it has by the id of the first message.

        Such a batch may end early: where the disk got full under it, its first messages are stored (seen with 2.15.1).
        """
        name, known, until = self._next_name(), False, time.monotonic() + DELIVERY_S
        while True:
            try:
                if known:
                    batch = batch[await self._stored(batch, name):]
                    name, known = self._next_name(), False
                if batch:
                    await asyncio.wait_for(self._try(batch, name), until - time.monotonic())
                return
            except (Refused, *NO_ANSWER) as error:
                if isinstance(error, Refused) and error.code == REPEATED:
                    known = True
                    continue
                if time.monotonic() >= until or (isinstance(error, Refused) and error.is_final and
                                                error.code != INCOMPLETE):
                    raise
                if self._client.is_closed:
                    self._client = await asyncio.to_thread(self._another)
                elif self._client.is_connected and not await asyncio.to_thread(self._still_exists):
                    raise MiddlewareError(f"the stream of {self._subject} is gone: `murmur up` creates it") from error
            await asyncio.sleep(PAUSE_S)

    def _next_name(self) -> str:
        self._number += 1
        return f"{self._name}{self._number:x}"

    async def _stored(self, batch: list[Event], name: str) -> int:
        """How many messages of a batch are there, of which JetStream has the first: they follow each other. All, if
        retention has taken that one meanwhile."""
        first = await self._publish(batch[0], {"Nats-Msg-Id": name})

        async def is_there(index: int) -> bool:
            wanted = json.dumps({"seq": first["seq"] + index}).encode()
            found = await self._client.request(
                f"{API}.DIRECT.GET.{first['stream']}", wanted, timeout=ANSWER_SECONDS
            )
            return (found.headers or {}).get("Nats-Batch-Id") == name

        if await is_there(len(batch) - 1) or not await is_there(0):
            return len(batch)
        low, high = 1, len(batch) - 1  # the first `low` are there, the one at `high` is not
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if await is_there(middle) else (low, middle)
        log.warning("%s: JetStream has %d of %d messages of a batch, and is sent the others", self._subject, low,
                    len(batch))
        return low

    def _another(self) -> Client:
        """A client in place of one that the server has sent away; the same where there is none yet."""
        try:
            return self._connection.client
        except MiddlewareError:
            return self._client

    def _still_exists(self) -> bool:
        try:
            return self._exists()
        except MiddlewareError:
            return True  # nobody knows

    async def _try(self, batch: list[Event], name: str) -> None:
        *members, last = batch
        for number, event in enumerate(members, 1):
            await self._client.publish(
                self._subject, event.content, headers=_headers(event, name, number, first=number == 1)
            )
        headers = _headers(last, name, len(batch), first=not members)
        if members:
            headers["Nats-Batch-Commit"] = "1"
        else:  # an event by itself is no batch
            del headers["Nats-Batch-Id"], headers["Nats-Batch-Sequence"]
        await self._publish(last, headers)

    async def _publish(self, event: Event, headers: dict[str, str]) -> dict[str, Any]:
        """JetStream's acknowledgement. Raises Refused."""
        answer = await self._client.request(self._subject, event.content, timeout=ANSWER_SECONDS, headers=headers)
        told: dict[str, Any] = json.loads(answer.data)
        if "error" in told:
            raise Refused(f"publishing to {self._subject}", told["error"])
        return told


def _headers(event: Event, batch: str, number: int, first: bool) -> dict[str, str]:
    """Of a message; a key may have what ends a line."""
    headers = {"Nats-Batch-Id": batch, "Nats-Batch-Sequence": str(number)}
    if first:
        headers["Nats-Msg-Id"] = batch
    if event.key and len(key := quote(event.key, safe="")) <= MAX_KEPT_KEY_BYTES:
        headers["Key"] = key
    return headers


def _size(group: list[Event]) -> int:
    return sum(len(event.content) for event in group)
