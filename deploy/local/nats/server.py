"""Starts the server, over a folder that it has begun itself.

Run by the process manager as `python -m deploy.local.nats.server`; becomes the server's process.
"""

from __future__ import annotations

import os

from common.settings import Settings
from common.storage import files
from deploy.local.middlewares import FolderLost
from deploy.local.nats import configuration, folder, program


def main() -> None:
    settings = Settings.load()
    begin_once(settings)
    command = (str(program(settings)), "--config", str(configuration(settings)))
    os.execv(command[0], command)


def begin_once(settings: Settings) -> None:
    """Makes the folder, unless a stamp beside it says that this was done: a server that has lost what it held must not
    begin anew by itself, as if that had never been. Raises FolderLost."""
    own = folder(settings)
    begun, stamp = own / "begun", settings.state_dir / "nats-begun"
    if stamp.exists():
        if not begun.exists():
            raise FolderLost(settings, own)
        return
    own.mkdir(parents=True, exist_ok=True)
    files.replace(begun, "the server keeps its streams here\n")
    files.replace(stamp, "the server has begun to keep streams\n")


if __name__ == "__main__":
    main()
