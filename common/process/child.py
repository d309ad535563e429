"""Programs and modules of ours as child processes: the command, and their end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress


class MissingProgram(Exception):
    """A program that set-up installs is not there."""


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
