"""Server-Sent Events: one thread reads each topic once and hands it to every stream that wants it."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

log = logging.getLogger(__name__)

RETRY_MS = 2000
HEARTBEAT_S = 15.0
INTERVAL_S = 1.0
REPEAT_S = 5.0
"""What does not change is sent again after this long, so that a page can tell quiet from broken."""


class Topic(NamedTuple):
    """What is read; `event` is the name under which it is sent, the rest are parameters."""

    event: str
    window: str = ""
    limit: int = 0


class Message(NamedTuple):
    event: str
    data: str


class Full(Exception):
    """As many streams are open as this process allows."""


class Subscription:
    """What waits for one client: of every event only the newest, so a slow client skips and never lags."""

    def __init__(self, topics: frozenset[Topic]) -> None:
        self.topics = topics
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
        """Frames as they come, a comment when nothing came for HEARTBEAT_S; ends when closed."""
        yield f"retry: {RETRY_MS}\n\n".encode()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed, HEARTBEAT_S)
                if self._closed:
                    return
                frames, self._waiting = list(self._waiting.values()), {}
            yield b"".join(frames) or b": heartbeat\n\n"


class Broadcast:
    """The streams of one process. `read` gives the message of a topic and is called by one thread only."""

    def __init__(self, read: Callable[[Topic], Message], limit: int, alive: Callable[[], bool] = lambda: True) -> None:
        self.alive = alive
        """Asked every second: when it says no, all streams end."""
        self._read, self._limit = read, limit
        self._subscriptions: set[Subscription] = set()
        self._sent: dict[Topic, tuple[Message, float]] = {}
        self._ids = itertools.count(time.time_ns() // 1_000_000)  # goes on rising across restarts
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._subscriptions)

    def subscribe(self, *topics: Topic) -> Subscription:
        """Raises Full. The first messages come at once. Whoever subscribes must `unsubscribe`."""
        subscription = Subscription(frozenset(topics))
        with self._lock:
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
            try:
                self._round()
            except Exception:  # the thread serves every stream: one bad reading must not end it
                log.exception("broadcast")
            self._wanted.wait(INTERVAL_S if self._subscriptions else None)
        with self._lock:
            for subscription in self._subscriptions:
                subscription.close()

    def _round(self) -> None:
        """Reads every topic that someone wants once, and hands on what is new."""
        with self._lock:
            wanted = {topic for subscription in self._subscriptions for topic in subscription.topics}
            self._sent = {topic: sent for topic, sent in self._sent.items() if topic in wanted}
        for topic in wanted:
            message, now = self._read(topic), time.monotonic()
            with self._lock:
                before, at = self._sent.get(topic, (None, 0.0))
                if message == before and now - at < REPEAT_S:
                    continue
                self._sent[topic] = message, now
                frame = f"event: {message.event}\nid: {next(self._ids)}\ndata: {message.data}\n\n".encode()
                for subscription in self._subscriptions:
                    if topic in subscription.topics:
                        subscription.offer(message.event, frame)
