"""Tells each second in Redis what the processes of the instance do."""

from __future__ import annotations

import logging
import os
import resource
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from chaos.connection import connected
from common.process import identity, manager
from common.settings import Settings
from common.telemetry import processes
from common.telemetry.processes import Process, Reading

log = logging.getLogger(__name__)

EVERY_S = 1.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
STOPPED = "T"


@dataclass
class Session:
    """What a process and all that it has started have: CPU time in clock ticks by process id."""

    ticks: dict[int, int] = field(default_factory=dict)
    memory_bytes: int = 0
    is_paused: bool = False


def watch(settings: Settings) -> None:
    """Begins to tell, in a thread of its own. While nobody answers, what was told becomes stale."""

    def run() -> None:
        with connected(settings) as client:
            watcher: Watcher | None = None
            while True:
                began = time.monotonic()
                try:
                    watcher = watcher or Watcher(processes.read(client, settings.redis_prefix))
                    asked = manager.ask(settings)
                    reading = watcher.read(time.time(), asked.getPID(), asked.getAllProcessInfo(), sessions())
                    processes.write(client, settings.redis_prefix, reading)
                except (redis.RedisError, manager.NotRunning, manager.NotAnswering) as error:
                    log.warning("what the processes do was not told: %s", error)
                except Exception:  # such as a process manager that is just ending; the next second may be another
                    log.exception("what the processes do was not told")
                time.sleep(max(0.0, began + EVERY_S - time.monotonic()))

    threading.Thread(target=run, name="processes", daemon=True).start()


class Watcher:
    """Compares with the second before. `told` is what an earlier one told last: restarts are counted on from there."""

    def __init__(self, told: Reading | None) -> None:
        self._manager = told["manager"] if told else 0
        self._before = {one["name"]: one for one in told["processes"]} if told else {}
        self._ticks: Mapping[int, Session] = {}
        self._at = 0.0

    def read(self, at: float, manager_pid: int, infos: list[dict[str, Any]], now: Mapping[int, Session]) -> Reading:
        """By what the process manager of that id says. `now` is by the id of who leads a session, as all do that the
        process manager starts."""
        if manager_pid != self._manager:  # another start of the instance
            self._manager, self._before = manager_pid, {}
        found = [self._process(info, now.get(info["pid"]) if info["pid"] else None, at) for info in infos]
        # One that is away is known by what it was: it comes back as a restart.
        self._before |= {one["name"]: one for one in found if one["pid"] or one["name"] not in self._before}
        self._ticks, self._at = now, at
        return {"as_of": at, "manager": manager_pid, "processes": found}

    def _process(self, info: dict[str, Any], session: Session | None, at: float) -> Process:
        name, pid = info["name"], info["pid"] or None
        before = self._before.get(name)
        restarts = before["restarts"] if before else 0
        if pid and before and before["pid"] not in (None, pid):
            restarts += 1
        return {
            "name": name,
            "state": "paused" if session and session.is_paused else info["statename"].lower(),
            "pid": pid,
            "up_since": info["start"] if pid else None,
            "restarts": restarts,
            "cpu_share": self._cpu_share(pid, session, at) if pid and session else None,
            "memory_bytes": session.memory_bytes if session else None,
        }

    def _cpu_share(self, pid: int, session: Session, at: float) -> float | None:
        before = self._ticks.get(pid)
        if before is None or at <= self._at:
            return None
        spent = sum(ticks - before.ticks.get(member, 0) for member, ticks in session.ticks.items())
        return round(max(0, spent) / TICKS_PER_S / (at - self._at), 3)


def sessions() -> dict[int, Session]:
    """Of everything that runs on the machine, in one look: by process, it would be one for each."""
    found: defaultdict[int, Session] = defaultdict(Session)
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        if fields := identity.stat(pid):
            session = found[int(fields[identity.SESSION])]
            session.ticks[pid] = int(fields[identity.USER_TICKS]) + int(fields[identity.SYSTEM_TICKS])
            session.memory_bytes += int(fields[identity.RESIDENT_PAGES]) * resource.getpagesize()
            session.is_paused |= pid == int(fields[identity.SESSION]) and fields[identity.STATE] == STOPPED
    return found
