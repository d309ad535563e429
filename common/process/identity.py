"""Which process a number means: ids are given anew once a process is gone."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import NamedTuple, Self

STATE, GROUP, SESSION, USER_TICKS, SYSTEM_TICKS, STARTED, RESIDENT_PAGES = 0, 2, 3, 11, 12, 19, 21
"""Fields of /proc/PID/stat behind the name, see proc(5)."""


class Identity(NamedTuple):
    """`started` is in clock ticks since the machine was: no later process of the same id has it, whatever becomes of
    the clock."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """None if no such process runs."""
        fields = stat(pid)
        return cls(pid, int(fields[STARTED])) if fields else None

    def is_running(self) -> bool:
        return Identity.of(self.pid) == self

    def kill(self) -> None:
        """By SIGKILL, and no other process that has its id meanwhile. Raises ProcessLookupError if it is gone."""
        descriptor = os.pidfd_open(self.pid)
        try:
            if not self.is_running():
                raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)


def groups_of_session(pid: int) -> set[int]:
    """Process groups of the session that the process of this id leads, or led."""
    running = (stat(int(folder.name)) for folder in Path("/proc").glob("[0-9]*"))
    return {int(fields[GROUP]) for fields in running if fields and int(fields[SESSION]) == pid}


def stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat behind the name; None if no such process runs."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[STATE] in "ZX" else fields


def is_group(pid: int) -> bool:
    """Whether anything is left of the process group that the process of this id led."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True
