"""The connection to NATS: its client is made for asyncio, and works in a thread of its own here."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar
from urllib.parse import urlsplit

import nats
import nats.errors
from nats.aio.client import Client

from common.settings import Settings
from middleware.errors import MiddlewareError, Unreachable
from middleware.nats.ports import Port

T = TypeVar("T")

CONNECT_SECONDS, ANSWER_SECONDS = 2, 5.0
RECONNECT_SECONDS = 0.25
PENDING_BYTES = 16 << 20
"""What the client keeps to be sent before whoever publishes waits."""

API = "$JS.API"

NO_ANSWER = (
    TimeoutError, OSError, nats.errors.TimeoutError, nats.errors.NoRespondersError, nats.errors.NoServersError,
    nats.errors.ConnectionClosedError, nats.errors.ConnectionDrainingError, nats.errors.OutboundBufferLimitError,
    nats.errors.StaleConnectionError, nats.errors.UnexpectedEOF,
)
"""JetStream has no responders while the server starts."""

log = logging.getLogger(__name__)


class Refused(MiddlewareError):
    """JetStream's own answer to a request that it does not fulfil."""

    def __init__(self, what: str, error: dict[str, Any]) -> None:
        super().__init__(f"{what}: {error.get('description', 'no reason given')} ({error.get('err_code', 0)})")
        self.code = int(error.get("err_code", 0))
        self.is_final = 400 <= int(error.get("code", 0)) < 500
        """Whether the same request is refused again."""


class Connection:
    """Made when it is first needed. Raises Unreachable where nobody answers within a few seconds."""

    def __init__(self, settings: Settings) -> None:
        self.uri = settings.middleware_uri or f"nats://{settings.address(Port.CLIENT)}"
        self.reconnects = 0
        """How often the client has found the server again: what was asked of it before is forgotten there."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._connecting = threading.Lock()

    def run(self, coroutine: Coroutine[Any, Any, T], seconds: float = ANSWER_SECONDS) -> T:
        """The coroutine's result, from the client's thread. Raises Unreachable."""
        future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(coroutine, seconds), self.loop)
        try:
            return future.result()
        except NO_ANSWER as error:
            raise Unreachable(f"NATS does not answer at {self.uri}: {error or type(error).__name__}") from error

    @property
    def client(self) -> Client:
        """Connected, or about to connect again."""
        with self._connecting:
            if self._client is None:
                self._probe()
                self._client = self.run(self._connect())
            return self._client

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Runs in the client's thread."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="nats", daemon=True).start()
        return self._loop

    def ask(self, call: str, /, **request: object) -> dict[str, Any]:
        """JetStream's answer to a call of its API, which is named without `$JS.API.`. Raises Refused or Unreachable."""
        return self.run(self.asking(self.client, call, **request))

    async def asking(self, client: Client, call: str, /, **request: object) -> dict[str, Any]:
        content = json.dumps(request).encode() if request else b""
        answer = json.loads((await client.request(f"{API}.{call}", content, timeout=ANSWER_SECONDS)).data)
        if "error" in answer:
            raise Refused(f"{call} at {self.uri}", answer["error"])
        return dict(answer)

    def close(self) -> None:
        if self._loop is None:
            return
        if self._client is not None:
            try:
                self.run(self._client.close())
            except MiddlewareError as error:
                log.debug("closing the connection: %s", error)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._loop = self._client = None

    async def _connect(self) -> Client:
        async def reconnected() -> None:
            self.reconnects += 1
            log.info("NATS is there again at %s", self.uri)

        async def told(error: Exception) -> None:
            log.debug("NATS at %s: %s", self.uri, error or type(error).__name__)

        return await nats.connect(
            self.uri, name="murmur", connect_timeout=CONNECT_SECONDS, reconnect_time_wait=RECONNECT_SECONDS,
            max_reconnect_attempts=-1, pending_size=PENDING_BYTES, reconnected_cb=reconnected, error_cb=told,
        )

    def _probe(self) -> None:
        """Fails at once where nobody listens; the client would try for ever."""
        address = urlsplit(self.uri)
        try:
            socket.create_connection((address.hostname, address.port), CONNECT_SECONDS).close()
        except OSError as error:
            raise Unreachable(f"NATS does not answer at {self.uri}: {error}; is the instance up?") from error
