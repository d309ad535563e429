"""Whether the stream store answers, asked while nobody publishes: otherwise an outage would show at the next push."""

from __future__ import annotations

import logging
import math
import threading
import time

from common.closing import Closing
from common.tweets import RAW
from middleware.data import DataPlane

log = logging.getLogger(__name__)

ASK_SECONDS = 3.0
"""From an answer, or a failure, to the next question."""

SILENT_SECONDS = 10.0
"""Who has not answered for so long is away, whatever becomes of the question."""

CLOSE_SECONDS = 1.0


class Pulse(Closing):
    """The store is asked in a thread of its own: who publishes does not wait, nor does the end of the process."""

    def __init__(self, data: DataPlane) -> None:
        self._data = data
        self._answered_at = math.inf  # nothing is asked before it has been found ready
        self._failed = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)
        self._thread.start()

    @property
    def is_missing(self) -> bool:
        """Whether the store has not answered when it was asked last; for any thread."""
        return self._failed or time.monotonic() - self._answered_at > SILENT_SECONDS

    def answered(self) -> None:
        """Somebody has had an answer: the store is there."""
        self._answered_at, self._failed = time.monotonic(), False

    def close(self) -> None:
        """Waits a moment for an answer, for which the middleware has to stay open."""
        self._closing.set()
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        since = time.monotonic()
        while not self._closing.wait(ASK_SECONDS):
            if self._answered_at <= since:
                self._ask()
            since = time.monotonic()

    def _ask(self) -> None:
        asked_at = time.monotonic()
        try:
            self._data.end(RAW)
        except Exception as error:  # whatever it is, the process goes on
            if self._answered_at > asked_at:
                return  # it has taken events meanwhile
            if not self._failed:
                log.warning("not ready, for the stream store does not answer: %s", error)
            self._failed = True
        else:
            self.answered()
