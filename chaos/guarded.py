"""A lease, held by a process of its own as long as its command lives, and no longer than it lasts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from chaos.failure import Refused
from chaos.lease import Lease, lease_file, undo_abandoned
from common import modules
from common.process.child import await_end, python
from common.settings import Settings
from common.storage import files
from deploy.local import instances

END_SECONDS = 5.0
"""In which a guard undoes what it has done."""


@contextmanager
def guarded(settings: Settings, lease: Lease) -> Iterator[subprocess.Popen[bytes]]:
    """Begins the lease, and yields its guard, which ends with it; at the end of the block it is over in any case.

    The guard holds a pipe of this process: whatever kills this one ends the lease. By its environment it belongs to the
    instance, so that `murmur down` finds it. Raises Refused.
    """
    with files.log_file(settings.log_dir / "chaos.log", settings.log_max_bytes) as log:
        guard = subprocess.Popen(
            python(modules.Chaos.GUARD, str(lease_file(settings.instance_dir, lease.name)), str(lease)),
            env={**os.environ, "MURMUR_SETTINGS": str(settings.settings_file)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True,
        )
    assert guard.stdin
    assert guard.stdout
    try:
        if not guard.stdout.readline():
            raise Refused(f"something is already done to {lease.name}, or chaos.log of the instance says what is wrong")
        yield guard
    finally:
        guard.stdin.close()
        try:
            await_end([guard], END_SECONDS)
        finally:  # on a second Ctrl-C, too, which kills it
            guard.stdout.close()
            undo_abandoned(settings.instance_dir)


def end_guards(settings: Settings) -> None:
    """Ends those of the instance that hold a lease, and with them what they do. What is left of one that is killed is
    for `undo_abandoned`."""
    guards = [process for process in instances.leftovers(settings) if _is_guard(process)]
    for guard in guards:
        with suppress(psutil.NoSuchProcess):
            guard.terminate()
    for guard in psutil.wait_procs(guards, END_SECONDS)[1]:
        with suppress(psutil.NoSuchProcess):
            guard.kill()
    psutil.wait_procs(guards, END_SECONDS)


def _is_guard(process: psutil.Process) -> bool:
    try:
        return modules.Chaos.GUARD in process.cmdline()
    except psutil.Error:
        return False
