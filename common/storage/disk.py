"""Files that must survive a crash, and a disk that is full."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.storage.files import sync_folder

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class DiskFull(Exception):
    """There is no room on the disk; nothing was written."""


@contextmanager
def needing_room(what: str) -> Iterator[None]:
    """Turns the system's word for a full disk into DiskFull, which says that `what` could not be written."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise DiskFull(f"the disk is full: {what} could not be written") from error


def write_at(descriptor: int, content: bytes, offset: int) -> None:
    """Writes all of `content`, whatever the system takes at once."""
    view = memoryview(content)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it, each of which is in the one above after a crash, too."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        sync_folder(each.parent)
