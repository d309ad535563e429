"""Starts a bookie, under the identity that lies in its folder; before the very first start, the first one makes the
place of all in ZooKeeper.

Run by the process manager as `python -m deploy.local.pravega.bookie REPLICA`; becomes the bookie's Java process.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from common.addresses import numbered
from common.settings import Settings, StoreTuning
from common.storage import files
from deploy.local.disk import await_room, full_share
from deploy.local.pravega import ZNODE, configuration, folder, java, write_one
from deploy.local.processes import class_data_sharing
from middleware.pravega.ports import Port

BOOKIE_HEAP: Mapping[StoreTuning, str] = {"laptop": "384m", "documented": "4g"}
BOOKIE_DIRECT_MEMORY: Mapping[StoreTuning, str] = {"laptop": "512m", "documented": "4g"}
REGIONS = "4m"
"""Of its heap. More than half of one at once begins a search of the whole heap for garbage: in regions of 1 MB, the
default, each piece of its table in memory did, up to 24 times a second."""

TEMPLATE = "bookkeeper.conf"

FORMAT_SECONDS = 120

INSTANCE_ID = f"{ZNODE}/bookkeeper/ledgers/INSTANCEID"
"""In ZooKeeper, where the ledgers' metadata is: another value each time that it is made."""


def main() -> None:
    settings, replica = Settings.load(), int(sys.argv[1])
    # On a full disk it would start and lose its journal's thread, for which it finds no place to unpack a library: so
    # it would neither write, whatever room is made, nor end.
    await_room(folder(settings, replica))
    write_one(settings, TEMPLATE, replica, disk_full=full_share(shutil.disk_usage(settings.state_dir).total),
              folder=folder(settings, replica), identity=identity(settings, replica))
    if replica == 0:
        format_once(settings)
    await_format(settings)
    conf, tuning = str(configuration(settings, TEMPLATE, replica)), settings.store_tuning
    command = java(settings, BOOKIE_HEAP[tuning], "org.apache.bookkeeper.server.Main", "--conf", conf,
                   options=(*class_data_sharing.options(settings, numbered("bookkeeper", replica)),
                            f"-XX:MaxDirectMemorySize={BOOKIE_DIRECT_MEMORY[tuning]}",
                            f"-XX:G1HeapRegionSize={REGIONS}"))
    os.execv(command[0], command)


def identity(settings: Settings, replica: int) -> str:
    """Name of the bookie in the metadata of ledgers. One whose folder was lost is a new bookie, and gets a new name:
    under the former it would answer that there is no such entry where it has lost one, and two such answers end a
    ledger before entries that were acknowledged. Exits where it is the only bookie.
    """
    file = folder(settings, replica) / "identity"
    if file.exists():
        return file.read_text()
    if formatted(settings).exists() and settings.replicas == 1:
        raise SystemExit(f"{file.parent} is gone, and with it what the only bookie held: put it back from a backup, or "
                         f"give up what is stored (`murmur down --wipe --instance {settings.instance}`)")
    file.parent.mkdir(parents=True, exist_ok=True)
    files.replace(file, f"{numbered('murmur', replica)}-{secrets.token_hex(4)}")
    return file.read_text()


def formatted(settings: Settings) -> Path:
    """Says that the ledgers' metadata was made, and lies beside it: it is no bookie's, and all bookies'."""
    return settings.state_dir / "zookeeper" / "ledgers-made"


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
    """Makes the ledgers' metadata where there is none. What is there is never touched, whatever the stamp says: it is
    made in one step, so it is safe to be killed anywhere in here and to begin again."""
    stamp = formatted(settings)
    if stamp.exists():
        return
    parents = ["/pravega", ZNODE, f"{ZNODE}/bookkeeper"]
    subprocess.run(zookeeper(settings), input="".join(f"create {path}\n" for path in parents) + "quit\n", text=True,
                   timeout=60)
    made = java(settings, "64m", "org.apache.bookkeeper.bookie.BookieShell", "-conf",
                str(configuration(settings, TEMPLATE)), "initnewcluster")
    if subprocess.run(made, timeout=60).returncode:  # as it does if it is there already
        subprocess.run(zookeeper(settings, "get", INSTANCE_ID), check=True, timeout=60)
    files.replace(stamp, "the ledgers' metadata was made\n")


def zookeeper(settings: Settings, *command: str) -> tuple[str, ...]:
    """ZooKeeper's shell, with a command or to be told some."""
    return java(settings, "64m", "org.apache.zookeeper.ZooKeeperMain", "-server", settings.address(Port.ZOOKEEPER),
                *command)


if __name__ == "__main__":
    main()
