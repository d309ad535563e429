"""What a process of an instance is: how it is started, in which order, and how to tell that it does its work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

Probe = Callable[[float], bool]
"""Does a real round trip: True when the process, started at the given time (seconds since the epoch), does its work.

What it raises counts as "not yet".
"""


class MissingProgram(Exception):
    """A program that set-up installs is not there."""


@dataclass(frozen=True)
class Process:
    """One supervised process. Those of a lower `stage` start earlier and stop later; `stop_seconds` is its share of the
    time in which the whole instance ends.

    One that takes long before it needs the servers starts beside them: `early`. One that answers users is `foreground`:
    when the cores are busy its turn comes before that of all others.
    """

    name: str
    command: tuple[str, ...]
    stage: int
    ready: Probe
    ready_seconds: int = 120
    stop_seconds: float = 0.5
    early: bool = False
    foreground: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


def program(name: str) -> str:
    """Path of an installed program; Debian keeps some in folders that are not in an ordinary user's PATH."""
    path = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if path is None:
        raise MissingProgram(f"{name} is not installed: run `make setup`")
    return path


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """Command that runs a module of ours in the virtual environment of this process."""
    return (sys.executable, "-m", module, *arguments)


def ends_with_parent(command: Sequence[str]) -> tuple[str, ...]:
    """The command, killed by the kernel once its parent is gone: no orphans, even after kill -9 of that.

    It is the thread that starts the command whose end counts (prctl(2)).
    """
    return (program("setpriv"), "--pdeathsig", "KILL", "--", *command)


def background(command: Sequence[str]) -> tuple[str, ...]:
    """The command, with less of the cores than what is in the foreground as long as that needs them."""
    return (str(Path(__file__).with_name("background")), *command)


def after(ports: Sequence[int], command: Sequence[str]) -> tuple[str, ...]:
    """The command, started once something listens on each of these ports."""
    return python("deploy.local.after", *map(str, ports), "--", *command)


def await_end(processes: Sequence[subprocess.Popen[bytes]], seconds: float) -> None:
    """Returns when these children have ended; kills those that take longer, or all when the wait is interrupted."""
    until = time.monotonic() + seconds
    try:
        with suppress(subprocess.TimeoutExpired):
            for process in processes:
                process.wait(max(0.0, until - time.monotonic()))
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
