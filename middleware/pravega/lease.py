"""A member's lease is renewed while it handles what it has polled, however long that takes: by a thread, as Kafka's
client does it.

Otherwise a database or an index that is slow for longer than a lease would have the members take each other's segments,
and none of them would ever commit. A process that stands still renews nothing, thread or not.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from middleware.errors import Unreachable
from middleware.pravega.group import Group
from middleware.pravega.jvm import raising

RENEW_S = 3.0
"""How often a lease is renewed while nothing is committed."""

LONGEST_S = 300.0
"""Who handles the same events for longer hangs, and loses its segments: Kafka's bound, too."""

log = logging.getLogger(__name__)


class Lease:
    """Ends by itself LONGEST_S after the last `polled`."""

    def __init__(self, record: Any, member: str, life: str) -> None:
        """`record`: a GroupRecord of its own, since each remembers what it has read."""
        self._record, self._member, self._life = record, member, life
        self._renewed = self._polled = time.monotonic()
        self._closed = threading.Event()
        threading.Thread(target=self._renew, name=f"lease-{member}", daemon=True).start()

    def polled(self) -> None:
        self._polled = time.monotonic()

    def renewed(self) -> None:
        """By the member itself, with whatever else it has changed."""
        self._renewed = time.monotonic()

    def is_due(self) -> bool:
        return time.monotonic() - self._renewed >= RENEW_S

    def close(self) -> None:
        self._closed.set()

    def _renew(self) -> None:
        while not self._closed.wait(RENEW_S / 3):
            # Whoever polls renews by itself: this comes to it only where it does not poll.
            silent_s = time.monotonic() - max(self._renewed, self._polled)
            if silent_s >= RENEW_S and time.monotonic() - self._polled < LONGEST_S:
                try:
                    self._prolong()
                except Unreachable as error:
                    log.info("%s", error)

    def _prolong(self) -> None:
        with raising(Unreachable, f"cannot renew the lease of member {self._member!r}"):
            content = self._record.read()
            if content is None:
                return
            group = Group.from_bytes(bytes(content))
            if group.prolong(self._member, self._life, time.time()) and self._record.replace(group.to_bytes()):
                self._renewed = time.monotonic()
