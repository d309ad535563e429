"""supervisord, with each of its processes in a session of its own.

`python -m deploy.local.processes.supervisord -c FILE`

Linux shares the cores out by session first (autogroup, see sched(7)) and then among the threads within one. In one
session together, a process of one busy thread, as the search consumer is, waits behind all threads of Spark and of the
servers; by itself it has as much of a core as any of them has as a whole. Those that answer users have more
(`background`).

A process that dies soon after it was started is started anew after a pause, each longer than the one before: what it
fails for, such as a full disk, is rarely gone at once, and to start it takes a core.
"""

from __future__ import annotations

import os
import time
from typing import Any

from supervisor import dispatchers, process, supervisord
from supervisor.options import ServerOptions
from supervisor.states import ProcessStates

from deploy.local.processes.log_repeats import Repeats

SOON_S = 30.0
LONGEST_PAUSE_S = 15.0


def next_pause(pause: float, lived_s: float) -> float:
    """Seconds until a process that has lived so long is started anew, after the last `pause`: at once if it had long
    been well."""
    if lived_s > SOON_S:
        return 0.0
    return min(max(1.0, 2 * pause), LONGEST_PAUSE_S)


class Options(ServerOptions):
    """Options of supervisord, which also start its processes."""

    def setpgrp(self) -> None:
        """What a forked child does first; a session has a group of its own too, to which signals go."""
        os.setsid()


class Output(dispatchers.POutputDispatcher):
    """The output of a process on its way to the log, without lines that repeat."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._repeats = Repeats()

    def _log(self, data: bytes) -> None:
        super()._log(self._repeats.passed(data, time.monotonic()))

    def close(self) -> None:
        if not self.closed:
            super()._log(self._repeats.rest())
        super().close()


class Process(process.Subprocess):
    """A process that is started anew whenever it has ended, with pauses."""

    pause = 0.0

    def finish(self, pid: int, status: int) -> None:
        super().finish(pid, status)
        self.pause = next_pause(self.pause, self.laststop - self.laststart)
        if self.state in (ProcessStates.EXITED, ProcessStates.BACKOFF):
            self.delay = self.laststop + self.pause

    def transition(self) -> None:
        if self.state != ProcessStates.EXITED or time.time() >= self.delay:
            super().transition()


if __name__ == "__main__":
    supervisord.ServerOptions = Options
    process.Subprocess = Process
    dispatchers.POutputDispatcher = Output
    supervisord.main()
