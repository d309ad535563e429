"""Provokes one failure, waits until the instance has recovered, and keeps a record of both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chaos import cache, disk
from chaos.failure import LONGEST_S, Failure, NotHeld, Refused
from chaos.guarded import guarded
from chaos.lease import Lease
from chaos.record import Record, keep
from chaos.recovery import Limits, Telemetry, await_back
from common.process import manager
from common.process.identity import Identity
from common.settings import Settings
from deploy.local import stack


@dataclass(frozen=True)
class Outcome:
    """`flows`: whether tweets came, without which nobody knows when all had caught up. `problem`: what kept the failure
    from its end, or anybody from seeing it; empty if nothing did."""

    record: Record
    flows: bool
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        problem = {"problem": self.problem} if self.problem else {}
        return {**self.record.as_json(), "flows": self.flows, "recovered": self.has_recovered, **problem}

    @property
    def has_recovered(self) -> bool:
        if self.problem:
            return False
        is_back = self.record.what != "kill" or self.record.back_after_s is not None
        return is_back and (self.record.caught_up_after_s is not None or not self.flows)


Tell = Callable[[Record], None]
"""Called when the failure has begun."""


def provoke(settings: Settings, failure: Failure, limits: Limits | None, tell: Tell) -> Outcome:
    """`limits`: what every stage has to lag within again; None where nothing flows.

    Raises Refused, NotRunning, NotAnswering and RedisError, each before anything is done.
    """
    begin = {"kill": _kill, "flush-cache": _flush}.get(failure.what, _hold)
    account = _Account(settings, tell)
    flows = limits is not None
    try:
        recovers_at = begin(settings, failure, account)
    except (NotHeld, manager.NotRunning) as error:
        if not account.has_begun:
            raise
        return Outcome(account.record, flows, str(error))
    if limits and recovers_at:
        at, flows = Telemetry(settings).await_caught_up(limits, recovers_at)
        if at:
            ended_us = account.record.until_us or account.record.at_us
            account.add(caught_up_after_s=_seconds_between(ended_us, _us(at)))
    return Outcome(account.record, flows)


class _Account:
    """What is known of one failure, kept as soon as it is."""

    record: Record

    def __init__(self, settings: Settings, tell: Tell) -> None:
        self._settings, self._tell = settings, tell
        self.has_begun = False

    def begin(self, record: Record) -> None:
        self.record, self.has_begun = record, True
        self._tell(record)
        keep(self._settings, record)

    def add(self, **known: Any) -> None:
        before, self.record = self.record, replace(self.record, **known)
        keep(self._settings, self.record, instead_of=before)


def _kill(settings: Settings, failure: Failure, account: _Account) -> float | None:
    """When the process is back, in seconds since the epoch; None if it is not."""
    found, process = running(settings, failure.name), stack.process(settings, failure.name)
    at = time.time()
    try:
        found.kill()
    except ProcessLookupError as error:
        raise Refused(f"{failure.name} has ended by itself") from error
    account.begin(Record(_us(at), failure.what, failure.name, found.pid))
    if back := await_back(settings, process, found.pid, at):
        account.add(back_after_s=_seconds_between(_us(at), _us(back)))
    return back


def _flush(settings: Settings, failure: Failure, account: _Account) -> float:
    at = time.time()
    cache.flush(settings)
    account.begin(Record(_us(at), failure.what, failure.name, None))
    return at


def _hold(settings: Settings, failure: Failure, account: _Account) -> float:
    """When the lease has ended."""
    lease = leased(settings, failure)
    try:
        with guarded(settings, lease) as guard:
            at = time.time()
            account.begin(Record(_us(at), failure.what, failure.name, lease.process.pid, _us(at + lease.seconds)))
            if status := guard.wait():
                raise NotHeld(f"it has ended before its time: the guard of {failure.name} ended with {status}, see "
                              "`murmur logs chaos`")
    finally:  # on Ctrl-C, too
        ended = time.time()
        if account.has_begun:
            account.add(until_us=_us(ended))
    return ended


def leased(settings: Settings, failure: Failure) -> Lease:
    """The lease of a failure that lasts. Raises Refused."""
    if not 0 < failure.seconds <= LONGEST_S:
        raise Refused(f"it lasts for {LONGEST_S:.0f} s at most")
    process = running(settings, failure.name)
    if failure.what == "fill-disk":
        folder = str(disk_of_its_own(settings, failure.name))
        return Lease("fill-disk", failure.name, process, failure.seconds, folder=folder)
    return Lease("slow" if failure.share else "pause", failure.name, process, failure.seconds, failure.share)


def disk_of_its_own(settings: Settings, name: str) -> Path:
    """The folder of what a process stores. Raises Refused unless nobody else's lies on the same file system."""
    folder = stack.process(settings, name).data
    if folder is None or not folder.is_dir():
        raise Refused(f"{name} stores nothing in a folder of its own")
    ours = (settings.instance_dir.parent, settings.instance_dir, settings.state_dir, settings.log_dir)
    others = (one.data for one in stack.processes(settings) if one.name != name and one.data)
    if other := disk.shares_with(folder, (*ours, *others)):
        raise Refused(f"{folder} is on the same file system as {other}: filling it would fill the disk of others, too. "
                      "Mount one of its own there")
    return folder


def names(settings: Settings) -> list[str]:
    """Those of the processes that the process manager knows."""
    return sorted(info["name"] for info in manager.ask(settings).getAllProcessInfo())


def running(settings: Settings, name: str) -> Identity:
    """Raises Refused for what is none of the instance's processes, and for one that does not run."""
    pids = {info["name"]: info["pid"] for info in manager.ask(settings).getAllProcessInfo()}
    if name not in pids:
        raise Refused(f"instance {settings.instance} has no process {name!r}; there are {', '.join(sorted(pids))}")
    found = Identity.of(pids[name]) if pids[name] else None
    if found is None:
        raise Refused(f"{name} does not run: `murmur status --instance {settings.instance}`")
    return found


def _us(seconds: float) -> int:
    return round(seconds * 1e6)


def _seconds_between(first_us: int, last_us: int) -> float:
    return round(max(0, last_us - first_us) / 1e6, 1)
