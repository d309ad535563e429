"""Reads a partition ahead: a consumer of JetStream that acknowledges nothing, from a sequence on.

JetStream goes on behind what retention took without a word. Its sequences have no gaps, so a gap is what retention
took; whoever takes events from here looks for one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections import deque
from collections.abc import Callable

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from middleware.errors import MiddlewareError
from middleware.nats.connection import API, NO_ANSWER, Connection
from middleware.nats.streams import SECOND

PULL_EVENTS, PULL_BYTES = 4_000, 4 << 20
"""Asked for at once."""

ASKED_AHEAD = PULL_EVENTS // 2
"""More is asked for when so many are still to come."""

LOOK_S = 0.25
"""How often to look whether what was read ahead has been taken."""

MAX_AHEAD_BYTES = 8 << 20
"""Read, and not yet handed out: more is not asked for meanwhile."""

EXPIRES_S = 5
SILENT_S = EXPIRES_S + 3
"""Without a word for so long, what was asked for is forgotten at the server."""

KEPT_S = 30
"""How long the server keeps a consumer of which nothing is asked."""

PAUSE_S = 0.25

log = logging.getLogger(__name__)


class PartitionReader:
    """`events`: sequence and content of each event that was read, in order; made by the client's thread, and taken by
    another with `take`."""

    def __init__(self, connection: Connection, jetstream: str, first: int, arrived: Callable[[], None]) -> None:
        """`first`: the sequence to begin at; `arrived` is called in the client's thread."""
        self.events: deque[tuple[int, bytes]] = deque()
        self._connection, self._client, self._jetstream = connection, connection.client, jetstream
        self._next, self._arrived = first, arrived
        self._asked = self._ahead_bytes = self._reconnects = 0
        self._heard = 0.0
        self._consumer, self._inbox = "", ""
        self._subscription: Subscription | None = None
        self._broken, self._wake = False, asyncio.Event()
        self._task = asyncio.run_coroutine_threadsafe(self._read(), connection.loop)

    def take(self) -> bytes:
        """The next event; there is one."""
        _, content = self.events.popleft()
        self._ahead_bytes -= len(content)
        return content

    def close(self) -> None:
        self._connection.loop.call_soon_threadsafe(self._task.cancel)

    async def _read(self) -> None:
        try:
            while True:
                try:
                    await self._open()
                    while not self._is_broken():
                        await self._ask()
                        await self._woken()
                except (MiddlewareError, *NO_ANSWER) as error:
                    log.info("reading %s: %s; trying again", self._jetstream, error or type(error).__name__)
                    await asyncio.sleep(PAUSE_S)
        finally:
            await self._unsubscribe()

    def _is_broken(self) -> bool:
        silent = self._asked and asyncio.get_running_loop().time() - self._heard > SILENT_S
        return bool(self._broken or silent or self._reconnects != self._connection.reconnects)

    async def _woken(self) -> None:
        """Returns when more is to be asked for, or it is time to look whether it is."""
        try:
            await asyncio.wait_for(self._wake.wait(), LOOK_S)
        except TimeoutError:
            return
        self._wake.clear()

    async def _open(self) -> None:
        """A consumer from the first sequence that was not read; its messages come to an inbox of its own."""
        await self._unsubscribe()
        self._broken = False
        self._asked, self._reconnects = 0, self._connection.reconnects
        self._consumer, self._inbox = f"murmur-{uuid.uuid4().hex[:12]}", self._client.new_inbox()
        inbox = self._inbox

        async def came(message: Msg) -> None:
            if inbox == self._inbox:
                self._take_in(message)

        self._subscription = await self._client.subscribe(
            inbox, cb=came, pending_msgs_limit=0, pending_bytes_limit=0)
        await self._connection.asking(
            self._client, f"CONSUMER.CREATE.{self._jetstream}.{self._consumer}",
            stream_name=self._jetstream, action="create",
            config={"name": self._consumer, "deliver_policy": "by_start_sequence", "opt_start_seq": self._next,
                    "ack_policy": "none", "replay_policy": "instant", "mem_storage": True, "num_replicas": 1,
                    "inactive_threshold": KEPT_S * SECOND},
        )

    async def _ask(self) -> None:
        if self._asked > ASKED_AHEAD or self._ahead_bytes > MAX_AHEAD_BYTES:
            return
        self._asked += PULL_EVENTS
        self._heard = asyncio.get_running_loop().time()
        request = {"batch": PULL_EVENTS, "max_bytes": PULL_BYTES, "expires": EXPIRES_S * SECOND}
        await self._client.publish(f"{API}.CONSUMER.MSG.NEXT.{self._jetstream}.{self._consumer}",
                                   json.dumps(request).encode(), reply=self._inbox)

    def _take_in(self, message: Msg) -> None:
        self._heard = asyncio.get_running_loop().time()
        if message.reply.startswith("$JS.ACK."):
            self._asked -= 1
            sequence = sequence_of(message.reply)
            self._next = sequence + 1
            self._ahead_bytes += len(message.data)
            self.events.append((sequence, message.data))
            self._arrived()
            if self._asked == ASKED_AHEAD:
                self._wake.set()
            return
        told = message.headers or {}
        left = told.get("Nats-Pending-Messages")
        if left is None:  # not the end of a request: the consumer is gone, or nobody is there
            log.info("reading %s: %s %s", self._jetstream, told.get("Status", ""), told.get("Description", ""))
            self._broken = True
        else:
            self._asked -= int(left)
        self._wake.set()

    async def _unsubscribe(self) -> None:
        if self._subscription is not None:
            subscription, self._subscription, self._inbox = self._subscription, None, ""
            try:
                await subscription.unsubscribe()
            except Exception as error:
                log.debug("leaving %s: %s", self._jetstream, error or type(error).__name__)


def sequence_of(reply: str) -> int:
    """Of the message, in its stream: `$JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE.…`, or with domain and account before
    the stream (ADR-15)."""
    fields = reply.split(".")
    return int(fields[5] if len(fields) == 9 else fields[7])
