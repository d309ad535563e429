"""Ends a server that says it is ill in a way which a new start mends, once there is room on its disk: the process
manager then starts it anew. Goes on as long as the server's process, which has started it.

`python -m deploy.local.processes.watch PID URL SIGN FOLDER`: the server's process, where it tells of its health, what
it says there when it is ill, and the folder in which it stores.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from deploy.local.disk import has_room

LOOK_SECONDS, ANSWER_SECONDS = 2.0, 5.0


def main() -> None:
    server, url, sign, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    while os.getppid() == server:
        if is_ill(url, sign) and has_room(folder):
            print(f"the server says {sign!r}, and its disk has room: it starts anew", flush=True)
            os.kill(server, signal.SIGTERM)
        time.sleep(LOOK_SECONDS)


def is_ill(url: str, sign: str) -> bool:
    """Whether the server answers with an error that has `sign` in it; one that does not answer says nothing."""
    address = urlsplit(url)
    with closing(HTTPConnection(address.netloc, timeout=ANSWER_SECONDS)) as connection:
        try:
            connection.request("GET", address.path)
            answer = connection.getresponse()
            return answer.status >= HTTPStatus.BAD_REQUEST and sign.encode() in answer.read()
        except (OSError, HTTPException):
            return False


if __name__ == "__main__":
    main()
