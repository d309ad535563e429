"""Starts the bookie; before its very first start, makes its place in ZooKeeper.

Run by the process manager as `python -m deploy.local.pravega.bookie REPLICA`; becomes the bookie's Java process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from common.addresses import numbered
from common.settings import Settings
from common.storage import files
from deploy.local.pravega import DISK_FULL, ZNODE, configuration, java
from deploy.local.processes import class_data_sharing
from middleware.pravega.ports import Port

BOOKIE_HEAP, BOOKIE_DIRECT_MEMORY = "384m", "512m"
REGIONS = "4m"
"""Of its heap. More than half of one at once begins a search of the whole heap for garbage: in regions of 1 MB, the
default, each piece of its table in memory did, up to 24 times a second."""

TEMPLATE = "bookkeeper.conf"

ROOM_SECONDS = 1.0
"""How often a full disk is looked at."""

FORMAT_SECONDS = 120


def main() -> None:
    settings, replica = Settings.load(), int(sys.argv[1])
    await_room(settings.state_dir)
    if replica == 0:
        format_once(settings)
    await_format(settings)
    conf = str(configuration(settings, TEMPLATE, replica))
    command = java(settings, BOOKIE_HEAP, "org.apache.bookkeeper.server.Main", "--conf", conf,
                   options=(*class_data_sharing.options(settings, numbered("bookkeeper", replica)),
                            f"-XX:MaxDirectMemorySize={BOOKIE_DIRECT_MEMORY}", f"-XX:G1HeapRegionSize={REGIONS}"))
    os.execv(command[0], command)


def await_room(folder: Path) -> None:
    """Returns once the bookie could write. On a full disk it would start and lose its journal's thread, for which it
    finds no place to unpack a library: so it would neither write, whatever room is made, nor end."""
    told = False
    while True:
        disk = shutil.disk_usage(folder)
        if 1 - disk.free / disk.total <= DISK_FULL:
            return
        if not told:
            print(f"the disk is full: {disk.free >> 20} MiB of {disk.total >> 20} are free. Starting once less than "
                  f"{DISK_FULL:.0%} of it are used", flush=True)
            told = True
        time.sleep(ROOM_SECONDS)


def formatted(settings: Settings) -> Path:
    return settings.state_dir / "bookkeeper" / "formatted"


def await_format(settings: Settings) -> None:
    """Returns once the first bookie of the instance has made the ledgers' metadata, which is all bookies'."""
    if not formatted(settings).exists():
        print("waiting for the ledgers' metadata, which the first bookie makes", flush=True)
    until = time.monotonic() + FORMAT_SECONDS
    while not formatted(settings).exists():
        if time.monotonic() > until:
            raise SystemExit(f"the ledgers' metadata was not made within {FORMAT_SECONDS} s: see the log of bookkeeper")
        time.sleep(0.2)


def format_once(settings: Settings) -> None:
    """Makes the ledgers' metadata unless a stamp says that it was made.

    Without the stamp no bookie of this instance ever ran, so nothing can be lost by forcing: that makes it safe to be
    killed anywhere in here and to begin again.
    """
    stamp = formatted(settings)
    if stamp.exists():
        return
    stamp.parent.mkdir(parents=True, exist_ok=True)
    parents = ["/pravega", ZNODE, f"{ZNODE}/bookkeeper"]
    shell = java(settings, "64m", "org.apache.zookeeper.ZooKeeperMain", "-server", settings.address(Port.ZOOKEEPER))
    subprocess.run(shell, input="".join(f"create {path}\n" for path in parents) + "quit\n", text=True, timeout=60)
    metadata = java(settings, "64m", "org.apache.bookkeeper.bookie.BookieShell", "-conf",
                    str(configuration(settings, TEMPLATE)),
                    "metaformat", "-nonInteractive", "-force")
    subprocess.run(metadata, check=True, timeout=60)
    files.replace(stamp, "the ledgers' metadata was made\n")


if __name__ == "__main__":
    main()
