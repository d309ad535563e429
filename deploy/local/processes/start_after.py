"""Becomes a command once the servers that it needs listen.

`python -m deploy.local.processes.start_after HOST:PORT[,HOST:PORT...]... -- COMMAND...`

Of servers with commas between one is enough: any of them may be dead.

Servers that are started without what they need fail, and take longer to try again than this takes to wait.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Sequence

WAIT_SECONDS, CONNECT_SECONDS = 120, 2.0
TOLD_SECONDS = 10.0
"""How often it is told what is waited for."""


def main(arguments: Sequence[str]) -> None:
    """Raises TimeoutError after two minutes; the process manager then starts this anew."""
    border = arguments.index("--")
    told = time.monotonic()
    until = told + WAIT_SECONDS
    for addresses in arguments[:border]:
        while not any(listens(address) for address in addresses.split(",")):
            if (now := time.monotonic()) > until:
                raise TimeoutError(f"nothing listens at {addresses}")
            if now > told + TOLD_SECONDS:
                print(f"waiting for a server at {addresses}", file=sys.stderr, flush=True)
                told = now
            time.sleep(0.1)
    command = list(arguments[border + 1:])
    os.execv(command[0], command)


def listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1:])
