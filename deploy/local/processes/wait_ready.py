"""Waits until every process does its work, in parallel and bounded."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress

from common.process import manager
from common.settings import Settings
from common.storage.files import last_lines
from deploy.local.processes.spec import Process

POLL_SECONDS = 0.2
TELL_SECONDS = 30.0
"""How often it is told who is not ready yet."""

LOG_LINES = 15

HELD_SECONDS = 30.0
"""For so long the process manager may answer late; then it is held."""

DEATHS = 3
"""As often a process may not die while it is waited for: once can be what it waits for that was late."""


class NotReady(Exception):
    """A process did not become ready in time, or died again and again; the message holds the end of its log."""


class Deaths:
    """How often each process of an instance has died since it was first looked at."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._starts: defaultdict[str, set[int]] = defaultdict(set)
        self._answered_at = time.monotonic()

    def look(self) -> None:
        """Raises NotReady for a process that has died too often, and NotAnswering if nobody has answered for long."""
        try:
            infos = manager.ask(self._settings).getAllProcessInfo()
        except manager.NotAnswering:
            if time.monotonic() - self._answered_at > HELD_SECONDS:
                raise
            return
        self._answered_at = time.monotonic()
        for info in infos:
            starts = self._starts[info["name"]]
            if info["start"]:
                starts.add(info["start"])
            if len(starts) - bool(info["pid"]) >= DEATHS:
                raise NotReady(_why(self._settings, info["name"], f"has died {DEATHS} times since it was started"))


def await_ready(
    settings: Settings, processes: Sequence[Process], deaths: Deaths, tell: Callable[[Process], None]
) -> Iterator[Process]:
    """Yields each process as it becomes ready; now and then calls `tell` for each that is not yet. Raises NotReady for
    those that are late as soon as one is, and at once when any of the instance dies again and again."""
    given_up = threading.Event()
    with ThreadPoolExecutor(max_workers=max(1, len(processes))) as pool:
        waiting = {pool.submit(_await_one, settings, process, given_up): process for process in processes}
        late: list[Process] = []
        try:
            pending, told = set(waiting), time.monotonic()
            while pending and not late:
                deaths.look()
                done, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                if time.monotonic() - told > TELL_SECONDS:
                    told = time.monotonic()
                    for future in pending:
                        tell(waiting[future])
                for future in done:
                    if future.result():
                        yield waiting[future]
                    else:
                        late.append(waiting[future])
        finally:
            given_up.set()  # on Ctrl-C the threads must not go on waiting
    if late:
        raise NotReady("\n\n".join(
            _why(settings, process.name, f"was not ready after {process.ready_seconds} s") for process in late
        ))


def _await_one(settings: Settings, process: Process, given_up: threading.Event) -> bool:
    until = time.monotonic() + process.ready_seconds
    asked = manager.ask(settings)
    while time.monotonic() < until:
        with suppress(manager.NotAnswering):  # not yet
            info = asked.getProcessInfo(process.name)
            if info["pid"] and _is_ready(process, info["start"]):
                return True
        if given_up.wait(POLL_SECONDS):
            break
    return False


def _is_ready(process: Process, started: float) -> bool:
    try:
        return process.ready(started)
    except Exception:  # whatever the client raises means "not yet": see Probe
        return False


def _why(settings: Settings, name: str, what: str) -> str:
    log = settings.log_dir / f"{name}.log"
    again = f"--instance {settings.instance}"
    return (f"{name} {what}. The end of its log:\n"
            + "\n".join(f"  {line}" for line in last_lines(log, LOG_LINES))
            + f"\nMore: `murmur logs {name} {again}`; then `murmur down {again}` and `up` again.")
