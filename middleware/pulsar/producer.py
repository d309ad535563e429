"""Writes to a stream of Pulsar.

The client makes a call of Python for each event that is acknowledged, which costs more than all else that it does. So
it is told of no event but of groups: it ends none by itself (options), and the one that it has gathered of a partition
is sent, and told of, by its `flush_async`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import pulsar

from common.settings import Settings
from middleware.data import Producer, check_size
from middleware.errors import PublishFailed
from middleware.partitioning import partition_of

MAX_GROUP_EVENTS, MAX_GROUP_BYTES = 2_000, 2 << 20
"""What a published group has at most, with its keys; one event it may always have."""

MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES = 10_000, 64 << 20
"""What was sent and is not yet acknowledged; a group may always be."""

DELIVERY_SECONDS = 120
"""How long a group is tried to be delivered. The broker drops one that it has, its acknowledgement having been lost."""

FULL_SECONDS = 0.002
"""How often it is looked whether there is room again."""

TOLD_BYTES = 64 << 10
"""Of events beyond, the client does tell: a server elsewhere may take less than ours, and they would be dropped."""

NEVER_MS = 3_600_000


def options() -> dict[str, Any]:
    """Of the client's producer of a partition: with none of its bounds it ends a group."""
    return {
        "batching_enabled": True,
        "batching_type": pulsar.BatchingType.Default,
        "batching_max_messages": MAX_GROUP_EVENTS + 1,
        "batching_max_allowed_size_in_bytes": 2**31,
        "batching_max_publish_delay_ms": NEVER_MS,
        "max_pending_messages": 2 * (MAX_IN_FLIGHT + MAX_GROUP_EVENTS),
        "block_if_queue_full": False,
        "send_timeout_millis": DELIVERY_SECONDS * 1000,
    }


@dataclass
class Share:
    """What a partition has of a group."""

    events: int = 0
    bytes: int = 0


class PulsarProducer(Producer):
    """One of the client's producers for each partition: that of a key is chosen here, as in every other client."""

    def __init__(self, open_all: Callable[[], list[pulsar.Producer]], settings: Settings, stream: str) -> None:
        """`open_all` makes those of all partitions, or raises MiddlewareError."""
        self._open_all = open_all
        self._producers = open_all()
        self._stream, self._max_event_bytes = stream, settings.max_event_bytes
        self._group_s, self._group_ends = settings.publish_group_ms / 1000, 0.0
        self._grouped = self._grouped_bytes = 0
        self._shares: dict[int, Share] = {}  # of the group, by partition
        self._sent = self._sent_bytes = 0  # of groups that have ended
        self._done = self._done_bytes = 0
        self._counting = threading.Lock()  # of these two: what the client refuses at once it tells in `send`'s thread
        self._failure: pulsar.Result | None = None

    def send(self, key: str, event: bytes) -> None:
        """What failed is known at `flush`."""
        check_size(event, self._max_event_bytes)
        encoded = key.encode()
        if self._failure is not None:
            return
        if not self._producers:
            self._producers = self._open_all()
        now, size = time.monotonic(), len(event) + len(encoded)
        if self._grouped and (now >= self._group_ends or self._grouped >= MAX_GROUP_EVENTS
                              or self._grouped_bytes + size > MAX_GROUP_BYTES):
            self._end_group()
            self._await_room()
        if not self._grouped:
            self._group_ends = now + self._group_s
        self._grouped += 1
        self._grouped_bytes += size
        partition = partition_of(encoded, len(self._producers))
        share = self._shares.get(partition) or self._shares.setdefault(partition, Share())
        share.events += 1
        share.bytes += size
        self._producers[partition].send_async(event, None if size < TOLD_BYTES else self._told, partition_key=key)

    def flush(self) -> None:
        self._end_group()
        while self._sent > self._done:  # bounded by DELIVERY_SECONDS
            time.sleep(FULL_SECONDS)
        if failure := self._failure:
            self._failure = None
            self._close_all()
            raise PublishFailed(f"Pulsar did not take the events of {self._stream}: {failure.name}")

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._close_all()

    def _end_group(self) -> None:
        """Sends it; without a connection it is sent as soon as there is one."""
        shares, self._shares = self._shares, {}
        self._sent += self._grouped
        self._sent_bytes += self._grouped_bytes
        self._grouped = self._grouped_bytes = 0
        for partition, share in shares.items():
            # The client's own method, which the class around it does not have.
            self._producers[partition]._producer.flush_async(partial(self._acknowledged, share))

    def _await_room(self) -> None:
        while self._sent - self._done >= MAX_IN_FLIGHT or self._sent_bytes - self._done_bytes >= MAX_IN_FLIGHT_BYTES:
            time.sleep(FULL_SECONDS)

    def _acknowledged(self, share: Share, result: pulsar.Result) -> None:
        """Or not; in a thread of the client, or where it is sent."""
        self._told(result, None)
        with self._counting:
            self._done_bytes += share.bytes
            self._done += share.events

    def _told(self, result: pulsar.Result, place: Any) -> None:
        if result != pulsar.Result.Ok and self._failure is None:
            self._failure = result

    def _close_all(self) -> None:
        producers, self._producers = self._producers, []
        for producer in producers:
            with suppress(pulsar.PulsarException):
                producer.close()
