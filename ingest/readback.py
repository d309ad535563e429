"""Which events of a run are in `tweets-raw`: asked before anything is published again, so that nothing is twice."""

from __future__ import annotations

import logging
import re
import threading
import time
import uuid

import orjson

from common.tweets import RAW
from middleware.data import DataPlane, Position, Start
from middleware.driver import Middleware
from middleware.errors import MiddlewareError, Unreachable

log = logging.getLogger(__name__)

POLL_EVENTS = 10_000
POLL_SECONDS = 1.5
READ_SECONDS = 600.0
"""How long reading the whole stream may take."""

MARK_SECONDS = 10.0
"""How much of the stream, in time, is read back after a failure to publish."""

CLOSE_SECONDS = 1.0


class Mark:
    """A place in `tweets-raw` behind which everything lies that its publisher has sent and is not acknowledged.

    The stream is asked in a thread of its own: who publishes does not wait, whatever becomes of the servers.
    """

    def __init__(self, data: DataPlane) -> None:
        self.position: Position | None = None
        self._data = data
        self._answer: Position | None = None
        self._asked_at, self._asking = -MARK_SECONDS, threading.Thread()

    def move(self) -> None:
        """Only when everything that was sent is acknowledged, and nothing else is sent meanwhile."""
        if self._asking.is_alive():
            return
        if self._answer:
            self.position, self._answer = self._answer, None
        if time.monotonic() - self._asked_at >= MARK_SECONDS:
            self._asked_at = time.monotonic()
            self._asking = threading.Thread(target=self._ask, name="mark", daemon=True)
            self._asking.start()

    def close(self) -> None:
        """Waits a moment for an answer, for which the middleware has to stay open."""
        if self._asking.is_alive():
            self._asking.join(CLOSE_SECONDS)

    def _ask(self) -> None:
        try:
            self._answer = self._data.end(RAW)
        except MiddlewareError as error:
            log.debug("the end of %s is not known: %s", RAW, error)


def published(
    middleware: Middleware, run: str, from_seq: int, timeout: float = READ_SECONDS, after: Position | None = None
) -> set[int]:
    """Sequence numbers of the run, from `from_seq` on, that are in the stream, behind `after` if that is known.

    Reads it from there or its head to where it ends now, whatever others add meanwhile; what retention has taken is
    not found. Raises Unreachable after `timeout` seconds, and what else the middleware raises.
    """
    group = f"readback-{uuid.uuid4().hex[:12]}"
    stamp = re.compile(rb'\{"ingest":\{"sent_at_us":-?\d+,"source":"[^"]*","run":%b,"seq":(\d+)'
                       rb'(?:,"position":"[^}]*")?\}' % re.escape(orjson.dumps(run)))
    deadline = time.monotonic() + timeout
    return {seq for seq in _read(middleware, group, stamp, after, deadline) if seq >= from_seq}


def _read(
    middleware: Middleware, group: str, stamp: re.Pattern[bytes], after: Position | None, deadline: float
) -> set[int]:
    end = middleware.data.end(RAW)
    found: set[int] = set()
    try:
        start: Start = "committed" if middleware.begin_at(RAW, group, after) else "head"
        with middleware.data.consumer(RAW, group, start=start) as consumer:
            while True:
                stamps = map(stamp.match, consumer.poll(POLL_EVENTS, POLL_SECONDS))
                found.update(int(match[1]) for match in stamps if match)
                if consumer.has_reached(end):
                    if consumer.passed_over:
                        log.warning("retention took events of %s while it was read: some may be published again", RAW)
                    return found
                if time.monotonic() > deadline:
                    raise Unreachable(f"{RAW} could not be read to its end in time")
    finally:
        try:
            middleware.admin.forget_group(RAW, group)
        except MiddlewareError as error:  # it is in nobody's way, and what was found holds
            log.warning("the group %s stays behind: %s", group, error)
