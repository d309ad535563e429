"""When a disk counts as full for a server that then only reads."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

ROOM, ROOM_BYTES = 0.02, 1 << 30
"""What must be left: a share of the disk, of which more than so many bytes are not asked for."""

ROOM_SECONDS = 1.0
"""How often a full disk is looked at."""


def room(total_bytes: int) -> int:
    """Bytes that are left when a disk of this size counts as full."""
    return min(round(ROOM * total_bytes), ROOM_BYTES)


def full_share(total_bytes: int) -> float:
    """Used share from which on a disk of this size counts as full."""
    return 1 - room(total_bytes) / total_bytes


def has_room(folder: Path) -> bool:
    """Whether the disk with this folder does not count as full."""
    disk = shutil.disk_usage(folder)
    return disk.free >= room(disk.total)


def await_room(folder: Path) -> None:
    """Returns once a server could write into a folder of its own, which need not be there yet; tells if it waits."""
    while not folder.exists():
        folder = folder.parent
    if has_room(folder):
        return
    disk = shutil.disk_usage(folder)
    print(f"the disk is full: {disk.free >> 20} MiB of {disk.total >> 20} are free. Starting once "
          f"{room(disk.total) >> 20} MiB are", flush=True)
    while not has_room(folder):
        time.sleep(ROOM_SECONDS)
