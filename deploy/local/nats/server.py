"""Starts the server, over a folder that it has begun itself, and a watch beside it.

Run by the process manager as `python -m deploy.local.nats.server`; becomes the server's process.
"""

from __future__ import annotations

import os
import subprocess

from common import modules
from common.process.child import ends_with_parent, python
from common.settings import Settings
from common.storage import files
from deploy.local.disk import await_room
from deploy.local.middlewares import FolderLost
from deploy.local.nats import configuration, folder, health, program

GIVEN_UP = "write error"
"""What it says in its health where a stream's write has failed: from 2.14 on that takes nothing more until the server
starts anew, and the server itself goes on."""


def main() -> None:
    settings = Settings.load()
    await_room(folder(settings))  # restoring streams takes some, too
    begin_once(settings)
    subprocess.Popen(ends_with_parent(python(
        modules.Deploy.WATCH, str(os.getpid()), health(settings), GIVEN_UP, str(folder(settings))
    )))
    command = (str(program(settings)), "--config", str(configuration(settings)))
    os.execv(command[0], command)


def begin_once(settings: Settings) -> None:
    """Makes the folder, unless a stamp beside it says that this was done: a server that has lost what it held must not
    begin anew by itself, as if that had never been. Raises FolderLost."""
    own = folder(settings)
    begun, streams, stamp = own / "begun", own / "jetstream", settings.state_dir / "nats-begun"
    if stamp.exists():
        if not (begun.exists() and streams.exists()):
            raise FolderLost(settings, own)
        return
    streams.mkdir(parents=True, exist_ok=True)
    files.replace(begun, "the server keeps its streams here\n")
    files.replace(stamp, "the server has begun to keep streams\n")


if __name__ == "__main__":
    main()
