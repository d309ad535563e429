"""Processes of a running instance that are stopped for a while."""

from __future__ import annotations

import time
import xmlrpc.client
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from supervisor.states import ProcessStates
from supervisor.xmlrpc import Faults

from common.process import manager
from common.settings import Settings
from deploy.local.processes.supervisord import LONGEST_PAUSE_S

RESTART_SECONDS = LONGEST_PAUSE_S + 5
"""Within which the process manager starts again what ended by itself, or ends what was slow to."""


@contextmanager
def stopped(settings: Settings, names: Sequence[str], tell: Callable[[str], None]) -> Iterator[list[str]]:
    """Stops those of the processes that run, or are tried to be started, and starts the same ones again. What it yields
    holds at the end those that could not be."""
    ended: list[str] = []
    left: list[str] = []
    try:
        for name in names:
            ended.append(name)  # first: without an answer nobody knows whether it was stopped
            if not _stop(settings, name):
                ended.pop()
        yield left
    finally:
        left += _start_again(settings, ended, tell)


def _start_again(settings: Settings, names: Sequence[str], tell: Callable[[str], None]) -> list[str]:
    """Names those of which it is not known that they were started, and tells them."""
    left = list(names)
    try:
        for name in names:
            try:
                _start(settings, name)
                left.remove(name)
            except (xmlrpc.client.Fault, manager.NotRunning, manager.NotAnswering) as error:
                tell(f"{name} was not started again: {getattr(error, 'faultString', error)}")
    finally:  # Ctrl-C, too
        if left:
            tell(f"`murmur status` shows whether {' and '.join(left)} runs; if not, `murmur down` and `murmur up` "
                 "start everything")
    return left


def _start(settings: Settings, name: str) -> None:
    """One that is still ending is waited for: nothing would start it when it has ended."""
    asked, until = manager.ask(settings), time.monotonic() + RESTART_SECONDS
    while asked.getProcessInfo(name)["state"] == ProcessStates.STOPPING:
        if time.monotonic() > until:
            raise manager.NotAnswering(f"it still ends after {RESTART_SECONDS:.0f} s")
        time.sleep(0.1)
    try:
        asked.startProcess(name, False)
    except xmlrpc.client.Fault as error:
        if error.faultCode != Faults.ALREADY_STARTED:
            raise


def _stop(settings: Settings, name: str) -> bool:
    """One that has just ended is waited for: it is about to be started again, and only then can be stopped."""
    until = time.monotonic() + RESTART_SECONDS
    while True:
        try:
            return bool(manager.ask(settings, manager.ENDED_SECONDS).stopProcess(name))
        except manager.NotRunning:  # the servers may live elsewhere
            return False
        except xmlrpc.client.Fault:
            if time.monotonic() > until or not _has_just_ended(settings, name):
                return False
        time.sleep(0.1)


def _has_just_ended(settings: Settings, name: str) -> bool:
    try:
        return bool(manager.ask(settings).getProcessInfo(name)["state"] == ProcessStates.EXITED)
    except xmlrpc.client.Fault:  # it is none of this instance
        return False
