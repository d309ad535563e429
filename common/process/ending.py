"""Ends a process that was asked to end, and cannot."""

from __future__ import annotations

import logging
import os
import threading
import time

log = logging.getLogger(__name__)


def end_in_time(seconds: float, kept: str) -> None:
    """Ends the process after so many seconds, whatever it waits for then; `kept` is logged.

    The client of a server that is away may wait for minutes, and nobody can call it back.
    """
    def end() -> None:
        time.sleep(seconds)
        log.error("this does not come to its end, so it ends now; %s", kept)
        os._exit(1)

    threading.Thread(target=end, name="end", daemon=True).start()
