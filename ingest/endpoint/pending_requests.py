"""Requests that wait for the publisher of the process, bounded in number and bytes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from ingest.sources.base import Payload

QUEUED_REQUESTS, QUEUED_BYTES = 64, 32 << 20
"""What may wait; a request that finds nothing waiting may be larger."""


@dataclass(eq=False)
class Pushed:
    """One request; `size` in bytes. `done` tells its thread what became of it."""

    payloads: Sequence[Payload]
    size: int
    done: Future[None] = field(default_factory=Future)


class Waiting:
    """For any threads that put, and one that takes."""

    def __init__(self) -> None:
        self._queue: deque[Pushed] = deque()
        self._bytes = 0
        self._changed = threading.Condition()

    def put(self, pushed: Pushed) -> bool:
        """Whether there was room."""
        with self._changed:
            full = len(self._queue) >= QUEUED_REQUESTS or self._bytes + pushed.size > QUEUED_BYTES
            if full and self._queue:
                return False
            self._queue.append(pushed)
            self._bytes += pushed.size
            self._changed.notify()
            return True

    def withdraw(self, pushed: Pushed) -> bool:
        """Takes a request back; False if it has been taken already."""
        with self._changed:
            if pushed not in self._queue:
                return False
            self._queue.remove(pushed)
            self._bytes -= pushed.size
            return True

    def take(self, timeout: float) -> Pushed | None:
        """The next request; None when none came within `timeout` seconds."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._queue, timeout):
                return None
            pushed = self._queue.popleft()
            self._bytes -= pushed.size
            return pushed
