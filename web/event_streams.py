"""Server-Sent Events: one thread reads each source once and hands it to every stream that wants it."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

log = logging.getLogger(__name__)

HEARTBEAT_S = 15.0
INTERVAL_S = 1.0
REPEAT_S = 5.0
"""What does not change is sent again after this long, so that a page can tell quiet from broken."""


class Source(NamedTuple):
    """What is read; `event` is the name under which it is sent."""

    event: str
    window: str = ""


class Topic(NamedTuple):
    """A source, cut to `limit` entries; of what is no list, `limit` says nothing."""

    source: Source
    limit: int = 0


class Message(NamedTuple):
    event: str
    data: str


Read = Callable[[Source], Callable[[int], Message]]
"""Reads a source; what it returns gives the message for a limit."""


class Full(Exception):
    """As many streams are open as this process allows."""


class TooMany(Exception):
    """As many streams are open as one client is allowed."""


class Subscription:
    """What waits for one client: of every event only the newest, so a slow client skips and never lags."""

    def __init__(self, client: str, topics: frozenset[Topic]) -> None:
        self.client, self.topics = client, topics
        self._waiting: dict[str, bytes] = {}
        self._closed = False
        self._changed = threading.Condition()

    def offer(self, event: str, frame: bytes) -> None:
        with self._changed:
            self._waiting[event] = frame
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def frames(self) -> Iterator[bytes]:
        """Frames as they come, a comment at first and when nothing came for HEARTBEAT_S; ends when closed."""
        yield b": open\n\n"
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed, HEARTBEAT_S)
                if self._closed:
                    return
                frames, self._waiting = list(self._waiting.values()), {}
            yield b"".join(frames) or b": heartbeat\n\n"


class Broadcast:
    """The streams of one process, at most `limit` of them, and `per_client` of each client's.

    `read` is called by one thread only, once a second for each source that somebody wants.
    """

    def __init__(
        self, read: Read, limit: int, per_client: int | None = None, alive: Callable[[], bool] = lambda: True
    ) -> None:
        self.alive = alive
        """Asked every second: when it says no, all streams end."""
        self._read, self._limit, self._per_client = read, limit, per_client or limit
        self._subscriptions: set[Subscription] = set()
        self._sent: dict[Topic, tuple[Message, float]] = {}
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._subscriptions)

    def subscribe(self, client: str, *topics: Topic) -> Subscription:
        """Raises Full, TooMany. The first messages come at once. Whoever subscribes must `unsubscribe`."""
        subscription = Subscription(client, frozenset(topics))
        with self._lock:
            if Counter(each.client for each in self._subscriptions)[client] >= self._per_client:
                raise TooMany
            if len(self._subscriptions) >= self._limit or not self.alive():
                raise Full
            self._subscriptions.add(subscription)
            for topic in topics:
                self._sent.pop(topic, None)  # so that the newcomer has it as well
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="broadcast", daemon=True)
                self._thread.start()
        self._wanted.set()
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions.discard(subscription)

    def _run(self) -> None:
        while self.alive():
            self._wanted.clear()
            self._round()
            self._wanted.wait(INTERVAL_S if self._subscriptions else None)
        with self._lock:
            for subscription in self._subscriptions:
                subscription.close()

    def _round(self) -> None:
        """Reads every source that someone wants once, and hands on what is new."""
        with self._lock:
            wanted = {topic for subscription in self._subscriptions for topic in subscription.topics}
            self._sent = {topic: sent for topic, sent in self._sent.items() if topic in wanted}
        for source in {topic.source for topic in wanted}:
            try:
                cut = self._read(source)
                for topic in wanted:
                    if topic.source == source:
                        self._send(topic, cut(topic.limit))
            except Exception:  # the thread serves every stream: one bad reading must not end it
                log.exception("broadcast of %s", source)

    def _send(self, topic: Topic, message: Message) -> None:
        now = time.monotonic()
        with self._lock:
            before, at = self._sent.get(topic, (None, 0.0))
            if message == before and now - at < REPEAT_S:
                return
            self._sent[topic] = message, now
            frame = f"event: {message.event}\ndata: {message.data}\n\n".encode()
            for subscription in self._subscriptions:
                if topic in subscription.topics:
                    subscription.offer(message.event, frame)
