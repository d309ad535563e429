"""Fills the disk of a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from common.storage.disk import NO_ROOM

PIECES = (64 << 20, 1 << 20, 1 << 12)
"""Bytes that the file grows by, the smaller ones once there is no room for a larger one."""


def filling(folder: Path, name: str) -> Path:
    """The file that takes the room, for the process of that name: several may store in one folder."""
    return folder / f".chaos-filling-{name}"


def shares_with(folder: Path, others: Iterable[Path]) -> Path | None:
    """One of the others, of those that there are, which lies on the same file system; None if that is the folder's own.
    """
    device = folder.stat().st_dev
    return next((other for other in others if other.exists() and other.stat().st_dev == device), None)


def fill(file: Path, has_ended: Callable[[], bool]) -> None:
    """Leaves no room where the file is, unless it is to end before."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
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
