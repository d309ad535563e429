"""supervisord, with each of its processes in a session of its own: `python -m deploy.local.supervisord -c FILE`.

Linux shares the cores out by session first (autogroup, see sched(7)) and then among the threads within one. In one
session together, a process of one busy thread, as the search consumer is, waits behind all threads of Spark and of the
servers; by itself it has as much of a core as any of them has as a whole. Those that answer users have more
(`background`).
"""

from __future__ import annotations

import os

from supervisor import supervisord
from supervisor.options import ServerOptions


class Options(ServerOptions):  # type: ignore[misc]
    """Options of supervisord, which also start its processes."""

    def setpgrp(self) -> None:
        """What a forked child does first; a session has a group of its own too, to which signals go."""
        os.setsid()


if __name__ == "__main__":
    supervisord.ServerOptions = Options
    supervisord.main()
