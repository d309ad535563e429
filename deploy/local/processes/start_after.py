"""Becomes a command once the servers that it needs listen.

`python -m deploy.local.processes.start_after PORT... -- COMMAND...`

Servers that are started without what they need fail, and take longer to try again than this takes to wait.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Sequence

WAIT_SECONDS = 120


def main(arguments: Sequence[str]) -> None:
    """Raises TimeoutError after two minutes; the process manager then starts this anew."""
    border = arguments.index("--")
    until = time.monotonic() + WAIT_SECONDS
    for port in map(int, arguments[:border]):
        while not listens(port):
            if time.monotonic() > until:
                raise TimeoutError(f"nothing listens on 127.0.0.1:{port}")
            time.sleep(0.1)
    command = list(arguments[border + 1:])
    os.execv(command[0], command)


def listens(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    main(sys.argv[1:])
