"""What sources have in common that others feed: their connection ends at any time, and goes on where it was left."""

from __future__ import annotations

import hashlib
import logging
import random
import re
import threading
import time
from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from common.tweets import EPOCH
from ingest.sources.base import GROUP_BYTES, Payload, Source, parse

log = logging.getLogger(__name__)

WINDOW = 50_000
"""Of so many payloads, the last ones, it is known that they came: half an hour of all posts of Bluesky."""

DELETION = "delete "
"""Begins what the window knows the deletion of a post by."""

NAMED_SECONDS = 8.0
"""A server that has sent nothing for so long since it was first tried is named."""

FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 64.0

HEALTHY_SECONDS = 10.0
"""A connection that lasted for so long works, though nothing new came by it."""

SHORT_ONES = 3
"""In a row, connections that brought something new and ended sooner work, too: then another server is asked."""

LOOK_SECONDS = 0.5
"""How often a thread that waits looks whether it is to end."""

WHY_CHARACTERS = 300
"""Of what a server or a library says of a failure, so much is told."""

USER_AGENT = f"murmuration/{version('murmuration')} (reference streaming application; python)"
"""Who asks: there are servers that answer nobody who does not say so."""

WITHOUT = "`murmur ingest --source synthetic` sends invented tweets, without a network"


_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)

EARLIEST_US = 10**15
"""In 2001: no live event is older."""


class Interrupted(Exception):
    """Why a connection ended; the next one may be better."""


class Broken(ValueError):
    """What came is none of the source's protocol."""


class Backoff:
    """Seconds to wait after failures in a row: each time up to twice as long, by chance half of that at least, so that
    not all who were cut off come back at once. `scale` shortens all of them."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale
        self._failures = 0

    def succeeded(self) -> None:
        self._failures = 0

    def after_failure(self) -> float:
        longest = min(FIRST_WAIT_SECONDS * 2.0 ** min(self._failures, 16), LONGEST_WAIT_SECONDS)
        self._failures += 1
        return self.scale * longest * random.uniform(0.5, 1.0)


class Inbox:
    """Payloads between two threads, in order. Who puts waits while it holds more than GROUP_BYTES."""

    def __init__(self) -> None:
        self._payloads: deque[Payload] = deque()
        self._size = 0
        self._room = threading.Condition()

    def put(self, payload: Payload, closing: threading.Event) -> None:
        """Returns when there is room, or `closing` is set."""
        with self._room:
            while self._size >= GROUP_BYTES and not closing.is_set():
                self._room.wait(LOOK_SECONDS)
            self._payloads.append(payload)
            self._size += len(payload.body)

    def take(self, at_most: int) -> list[Payload]:
        with self._room:
            taken = [self._payloads.popleft() for _ in range(min(at_most, len(self._payloads)))]
            self._size -= sum(len(payload.body) for payload in taken)
            self._room.notify()
        return taken


class Window:
    """Which payloads came last, by what they say; a deletion of a post is the same however often it comes."""

    def __init__(self, payloads: Iterable[Payload], size: int = WINDOW) -> None:
        self._size = size
        self._known: dict[str, None] = {}
        for payload in payloads:
            self.is_new(payload)

    def is_new(self, payload: Payload) -> bool:
        """Whether it was not there before; from now on it is. Without an id everything is new."""
        identity = _identity(payload.body)
        if identity in self._known:
            return False
        if identity:
            self._known[identity] = None
            self._known.pop(f"{DELETION}{identity}", None)  # a post that is written anew may be deleted anew
            if len(self._known) > self._size:
                del self._known[next(iter(self._known))]
        return True


def _identity(body: bytes) -> str:
    data = parse(body)["data"]
    if "id" in data:
        return str(data["id"])
    if "delete" in data:
        return f"{DELETION}{data['delete']['tweet']['id']}"
    return f"{data['user_delete']['user']['id']} {data['user_delete']['event_at']}"


def identifier(*parts: str) -> str:
    """A tweet's id for what has another one at its source: 63 bits of a hash, in decimal."""
    digest = hashlib.sha256("/".join(parts).encode("utf-8", "surrogatepass")).digest()
    return str(int.from_bytes(digest[:8], "big") >> 1)


class Live(Source):
    """Listens in a thread of its own, until it is closed. A subclass connects, and hands on what came.

    `archived` are the last payloads of the runs before, from the archive: it goes on at the position of the last one.
    Where the archive has none any more it goes on at `since_us`, when the last run ended.
    """

    reasons: tuple[str, ...] = ("repeated", "broken")
    """Why something is left out."""

    def __init__(
        self, archived: Sequence[Payload] = (), since_us: int | None = None, scale: float = 1.0
    ) -> None:
        """`scale` shortens what is waited for between connections."""
        self._start = archived[-1].position if archived else ""
        self._since_us = since_us
        self._window, self._inbox, self._backoff = Window(archived), Inbox(), Backoff(scale)
        self._left_out = Counter(dict.fromkeys(self.reasons, 0))
        self._closing = threading.Event()
        self._failure: Exception | None = None
        self._first_at: float | None = None
        self._brought = False
        """Whether anything new came by this connection."""
        self._short_ones = 0
        """Connections to this server that ended soon, in a row."""
        self._unheard_since: float | None = time.monotonic()
        self._problem = ""
        self._thread = threading.Thread(target=self._listen, name=self.name, daemon=True)

    @abstractmethod
    def connect(self) -> None:
        """One connection, from its beginning to its end: calls `came` for whatever it brings, and `receive` for each
        payload. Raises Interrupted when it ends; returns early once `_closing` is set."""

    @property
    @abstractmethod
    def server(self) -> str:
        """Who is asked, or will be."""

    def give_up_server(self) -> None:
        """The connection did not work: another server may be asked next."""

    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        payloads = self._inbox.take(len(sent_at_us))
        if not payloads and self._failure:
            raise self._failure
        since = self._unheard_since
        if since is not None and time.monotonic() - since > NAMED_SECONDS * self._backoff.scale:
            self._name_server("it does not answer")
        return payloads

    def left_out(self) -> Mapping[str, int]:
        return dict(self._left_out)

    def problem(self) -> str:
        return self._problem

    def close(self) -> None:
        self._closing.set()

    def came(self) -> None:
        """The connection works."""
        if self._first_at is None:
            self._first_at = time.monotonic()
            if self._problem:
                log.info("%s: %s answers", self.name, self.server)
            self._unheard_since, self._problem = None, ""

    def receive(self, payload: Payload) -> None:
        if self._window.is_new(payload):
            self._brought = True
            self._inbox.put(payload, self._closing)
        else:
            self.leave_out("repeated")

    def leave_out(self, reason: str) -> None:
        self._left_out[reason] += 1

    def _listen(self) -> None:
        try:
            while not self._closing.is_set():
                self._first_at, self._brought = None, False
                try:
                    self.connect()
                except Interrupted as error:
                    self._ended(str(error))
        except Exception as failure:
            self._failure = failure

    def _ended(self, why: str) -> None:
        if self._closing.is_set():
            return
        if self._first_at is None:
            self._unheard_since = self._unheard_since or time.monotonic()
            self._name_server(why)
        lasted = self._has_lasted()
        self._short_ones = 0 if lasted else self._short_ones + 1
        worked = lasted or (self._brought and self._short_ones <= SHORT_ONES)
        if worked:
            self._backoff.succeeded()
        wait = self._backoff.after_failure()
        log.info("%s: the connection to %s ended (%s); again in %.1f s", self.name, self.server, why, wait)
        if not worked:
            self._short_ones = 0
            self.give_up_server()
        self._closing.wait(wait)

    def _has_lasted(self) -> bool:
        healthy_s = HEALTHY_SECONDS * self._backoff.scale
        return self._first_at is not None and time.monotonic() - self._first_at > healthy_s

    def _name_server(self, why: str) -> None:
        before = self._problem
        self._problem = f"{self.name}: {self.server} is not reached ({why[:WHY_CHARACTERS]})"
        if not before:
            log.warning("%s; it is tried on. %s", self._problem, WITHOUT)


def microseconds(written: Any) -> int:
    """A time since 1970. Raises Broken, also for one that is not of these days."""
    if not (isinstance(written, str) and _TIME.fullmatch(written)):
        raise Broken("it has no time")
    try:
        since = datetime.fromisoformat(written.upper()).astimezone(UTC) - EPOCH
    except (ValueError, OverflowError):
        raise Broken("its time is none") from None
    us = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    if not EARLIEST_US < us < 1 << 53:
        raise Broken("its time is not of these days")
    return us


def text_of(value: Any) -> str:
    """A field that is a string; empty if it is not."""
    return value if isinstance(value, str) else ""


def is_address(value: Any) -> bool:
    """Whether a tweet may name it as the place where it can be read."""
    return isinstance(value, str) and value.startswith(("https://", "http://")) and len(value) <= 512
