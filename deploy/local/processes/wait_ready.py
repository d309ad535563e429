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
    """How often each process of an instance has died since it was first looked at, and which copies it goes on without.

    Of the processes that are copies of one server the first that is late, or dies too often, is only warned of: `warn`
    is told its name and why.
    """

    def __init__(
        self, settings: Settings, processes: Sequence[Process] = (), warn: Callable[[str, str], None] = lambda *_: None
    ) -> None:
        self._settings = settings
        self._copies = {process.name: process.copy_of for process in processes if process.copy_of}
        self._warn = warn
        self._away: dict[str, str] = {}
        """By what it is a copy of, the one that is gone without."""

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
            starts, why = self._starts[info["name"]], f"has died {DEATHS} times since it was started"
            if info["start"]:
                starts.add(info["start"])
            if len(starts) - bool(info["pid"]) >= DEATHS and not self.goes_on_without(info["name"], why):
                raise NotReady(_why(self._settings, info["name"], why))

    def goes_on_without(self, name: str, why: str) -> bool:
        """Whether the instance does, which it then is warned of once."""
        kind = self._copies.get(name)
        if kind and kind not in self._away:
            self._away[kind] = name
            self._warn(name, why)
        return self.is_away(name)

    def is_away(self, name: str) -> bool:
        return name in self._away.values()


def await_ready(
    settings: Settings, processes: Sequence[Process], deaths: Deaths, tell: Callable[[Process], None]
) -> Iterator[Process]:
    """Yields each process as it becomes ready; now and then calls `tell` for each that is not yet. Raises NotReady for
    those that are late as soon as one is, and at once when any of the instance dies again and again: but for a copy
    that `deaths` goes on without."""
    given_up = threading.Event()
    with ThreadPoolExecutor(max_workers=max(1, len(processes))) as pool:
        waiting = {pool.submit(_await_one, settings, process, given_up): process for process in processes}
        late: list[Process] = []
        try:
            pending, told = set(waiting), time.monotonic()
            while pending and not late:
                deaths.look()
                pending = {future for future in pending if not deaths.is_away(waiting[future].name)}
                done, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                if time.monotonic() - told > TELL_SECONDS:
                    told = time.monotonic()
                    for future in pending:
                        tell(waiting[future])
                for future in done:
                    process = waiting[future]
                    if future.result():
                        yield process
                    elif not deaths.goes_on_without(process.name, _late(process)):
                        late.append(process)
        finally:
            given_up.set()  # on Ctrl-C the threads must not go on waiting
    if late:
        raise NotReady("\n\n".join(_why(settings, process.name, _late(process)) for process in late))


def _late(process: Process) -> str:
    return f"was not ready after {process.ready_seconds} s"


def _await_one(settings: Settings, process: Process, given_up: threading.Event) -> bool:
    until = time.monotonic() + process.ready_seconds
    asked = manager.ask(settings)
    while time.monotonic() < until:
        with suppress(manager.NotAnswering):  # not yet
            info = asked.getProcessInfo(process.name)
            if info["pid"] and is_ready(process, info["start"]):
                return True
        if given_up.wait(POLL_SECONDS):
            break
    return False


def is_ready(process: Process, started: float) -> bool:
    """Whether the process that was started then does its work."""
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
