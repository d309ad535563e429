"""Posts of Bluesky as they are written, from Jetstream v2 over WebSocket: without a key.

Each of its hosts numbers events by itself. The position of a payload is so that of the host, its number there and the
time at which the host saw it: the same host goes on from the number, another one from a little before that time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from common.settings import Settings
from common.tweets import rfc3339
from ingest.sources.base import Payload, parse
from ingest.sources.bluesky_events import POSTS, Event, Notice, Refused, read
from ingest.sources.live import EARLIEST_US, LOOK_SECONDS, USER_AGENT, Broken, Interrupted, Live, text_of

log = logging.getLogger(__name__)

PATH = "/xrpc/network.bsky.jetstream.subscribeEvents"
PROTOCOL = Subprotocol("xrpc.v1.json")
CONNECT_SECONDS, FIRST_SECONDS = 5.0, 10.0
"""Until there is a connection, and until something comes by it: hosts were seen that take one and send nothing."""

MESSAGE_BYTES = 1 << 20
REWIND_US = 120_000_000
"""How far before the last event another host is asked to begin: their clocks, and when they see a post, differ, and one
that is left may have lagged. The window knows what comes again."""

CURSOR_TOO_OLD = "CursorTooOld"
OUTDATED = "OutdatedCursor"


class Position(NamedTuple):
    """An event, where a host's stream has it."""

    host: str
    seq: int
    time_us: int

    def __str__(self) -> str:
        return f"{self.host} {self.seq} {self.time_us}"

    @classmethod
    def parsed(cls, text: str) -> Position | None:
        host, *numbers = text.split(" ")
        if len(numbers) != 2 or not all(number.isascii() and number.isdecimal() for number in numbers):
            return None
        return cls(host, int(numbers[0]), int(numbers[1]))

    def cursor(self, host: str) -> int:
        """What that host is asked to begin with."""
        return self.seq if host == self.host else self.time_cursor

    @property
    def time_cursor(self) -> int:
        return max(self.time_us - REWIND_US, EARLIEST_US)


class Bluesky(Live):
    """Every public post but those that are left out, deletions of posts, and accounts that go."""

    name = "bluesky"
    reasons = (*Live.reasons, "adult", "updates")

    def __init__(
        self, settings: Settings, archived: Sequence[Payload] = (), since_us: int | None = None, scale: float = 1.0
    ) -> None:
        super().__init__(archived, since_us, scale)
        self._hosts = settings.bluesky_host_names
        self._position = Position.parsed(self._start)
        if self._position is None and since_us:
            self._position = Position("", 0, since_us)
        if self._position and self._position.host in self._hosts:
            self._hosts = _beginning_with(self._position.host, self._hosts)
        self._silence_s = settings.live_silence_s
        self._too_old = 0
        """How often in a row the position was before everything that the server still has."""

        self._missing_from: int | None = None
        self._thread.start()

    @property
    def server(self) -> str:
        return self._hosts[0]

    def give_up_server(self) -> None:
        self._hosts = [*self._hosts[1:], self._hosts[0]]

    def connect(self) -> None:
        host = self.server
        try:
            with connect(
                self._address(host), subprotocols=[PROTOCOL], user_agent_header=USER_AGENT, compression=None,
                open_timeout=CONNECT_SECONDS, close_timeout=LOOK_SECONDS, ping_interval=None,
                max_size=2 * MESSAGE_BYTES,
            ) as connection:
                self._listen_to(connection, host)
        except InvalidStatus as error:
            raise Interrupted(self._refusal(error)) from error
        except Refused as error:
            raise Interrupted(f"the server says {error}") from error
        except (WebSocketException, OSError, EOFError) as error:
            raise Interrupted(str(error) or type(error).__name__) from error

    def _address(self, host: str) -> str:
        query: list[tuple[str, str | int]] = [
            ("kinds", "commit"), ("kinds", "account"), ("collections", POSTS), ("maxMessageSizeBytes", MESSAGE_BYTES),
        ]  # fmt: skip
        if (cursor := self._cursor(host)) is not None:
            query.append(("cursor", cursor))
        return f"{host if '://' in host else f'wss://{host}'}{PATH}?{urlencode(query)}"

    def _cursor(self, host: str) -> int | None:
        """Where it begins: a number that is too old is refused, a time makes it begin with the oldest that is there."""
        if self._position is None or self._too_old > 1:
            return None
        return self._position.time_cursor if self._too_old else self._position.cursor(host)

    def _listen_to(self, connection: ClientConnection, host: str) -> None:
        heard_at, longest_s = time.monotonic(), min(FIRST_SECONDS, self._silence_s)
        while not self._closing.is_set():
            try:
                frame = connection.recv(timeout=min(LOOK_SECONDS, longest_s), decode=False)
            except TimeoutError:
                if time.monotonic() - heard_at >= longest_s:
                    raise Interrupted(f"silent for {longest_s:g} s") from None
                continue
            try:
                self._take_in(read(frame), host)
            except Broken:
                self.leave_out("broken")
            heard_at, longest_s = time.monotonic(), self._silence_s

    def _take_in(self, said: Event | Notice, host: str) -> None:
        if isinstance(said, Notice):
            log.warning("%s: %s says %s: %s", self.name, host, said.name, said.message)
            if said.name == OUTDATED and self._position:
                self._missing_from = self._missing_from or self._position.time_us
            return
        self.came()
        if self._missing_from is not None and said.time_us > self._missing_from:
            log.warning("%s: posts from %s to %s are missing: %s has them no more", self.name,
                        rfc3339(self._missing_from), rfc3339(said.time_us), host)
        self._missing_from, self._too_old = None, 0
        self._position = Position(host, said.seq, said.time_us)
        if said.payload:
            self.receive(said.payload._replace(position=str(self._position)))
        elif said.left_out:
            self.leave_out(said.left_out)

    def _refusal(self, error: InvalidStatus) -> str:
        """Why the server did not take the connection; a position that is too old is told, and not asked for again."""
        body = parse(bytes(error.response.body or b""))
        said = body if isinstance(body, dict) else {}
        name, message = text_of(said.get("error"))[:100], text_of(said.get("message"))[:500]
        if name == CURSOR_TOO_OLD and self._position:
            self._too_old += 1
            self._missing_from = self._missing_from or self._position.time_us
            log.warning("%s: where it was left, at %s, is too old for %s (%s); it goes on with what is still there",
                        self.name, rfc3339(self._position.time_us), self.server, message)
        return f"HTTP {error.response.status_code} {name} {message}".rstrip()


def _beginning_with(first: str, hosts: list[str]) -> list[str]:
    at = hosts.index(first)
    return [*hosts[at:], *hosts[:at]]
