"""Ends a process that was asked to end, and cannot."""

from __future__ import annotations

import logging
import os
import signal
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


def stop_on_signal(stop: threading.Event, seconds: float, kept: str) -> None:
    """Sets `stop` at SIGTERM or SIGINT, and ends the process so many seconds later; `kept` is logged then.

    Python runs a signal's handler in the main thread alone, when that comes to its next instruction: never where it
    waits in a client's own code, or has just begun to wait for a lock. So a thread reads what the interpreter writes of
    each signal (`signal.set_wakeup_fd`).
    """
    told, tells = os.pipe()
    os.set_blocking(tells, False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # or else nothing is written of it
    signal.set_wakeup_fd(tells, warn_on_full_buffer=False)

    def await_signal() -> None:
        while os.read(told, 1)[0] not in (signal.SIGTERM, signal.SIGINT):
            pass
        stop.set()
        end_in_time(seconds, kept)

    threading.Thread(target=await_signal, name="signals", daemon=True).start()
