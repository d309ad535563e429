"""Fills the disk of a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from common.storage.disk import NO_ROOM

PIECES = (64 << 20, 1 << 20, 1 << 12)
"""Bytes that the file grows by, the smaller ones once there is no room for a larger one."""


def filling(folder: Path) -> Path:
    """The file that takes the room."""
    return folder / ".chaos-filling"


def is_apart(folder: Path, instance_dir: Path) -> bool:
    """Whether the folder has a file system of its own, beside the one on which all instances lie."""
    return folder.stat().st_dev != instance_dir.parent.stat().st_dev


def fill(folder: Path, has_ended: Callable[[], bool]) -> None:
    """Leaves no room in it, unless it is to end before."""
    descriptor = os.open(filling(folder), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        size = 0
        for piece in PIECES:
            while not has_ended() and _grew(descriptor, size, piece):
                size += piece
    finally:
        os.close(descriptor)


def _grew(descriptor: int, size: int, piece: int) -> bool:
    try:
        os.posix_fallocate(descriptor, size, piece)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        return False
    return True
