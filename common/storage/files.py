"""Files that are there whole or not at all, or held by one process at a time."""

from __future__ import annotations

import fcntl
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


def replace(path: Path, text: str) -> None:
    """Puts the text in the place of the file, or of nothing, for the owner only and on disk before it is relied upon.

    Whoever reads at any time, after a crash too, finds all of the former text or all of this.
    Raises OSError.
    """
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def log_file(path: Path, most: int) -> IO[bytes]:
    """The file, to append to; emptied where it has more than `most` bytes. Raises OSError."""
    file = path.open("ab", buffering=0)
    if file.tell() > most:
        file.truncate(0)
    return file


def last_lines(log: Path, count: int) -> list[str]:
    """The last lines of a log, of some hundred bytes each; empty if there is none."""
    with suppress(FileNotFoundError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 500 * count))
        return file.read().decode(errors="replace").splitlines()[-count:]
    return []


@contextmanager
def locked(path: Path, flags: int = 0, shared: bool = False, refusal: Exception | None = None) -> Iterator[None]:
    """Opens the file with these further flags, and holds it, alone or with others who share it. Raises `refusal`, or
    BlockingIOError unless one is given, if another process holds it otherwise; OSError."""
    try:
        descriptor = _opened_and_held(path, flags, shared)
    except BlockingIOError as error:
        raise refusal or error from None
    try:
        yield
    finally:
        os.close(descriptor)


def _opened_and_held(path: Path, flags: int, shared: bool) -> int:
    """Descriptor of the file; of the one that is there, should whoever held it have removed it just now."""
    while True:
        descriptor = os.open(path, os.O_RDWR | flags)
        try:
            hold(descriptor, shared)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def hold(descriptor: int, shared: bool = False) -> None:
    """Holds the opened file, alone or with others who share it, until the descriptor and its copies are closed. Raises
    BlockingIOError if another process holds it otherwise."""
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _of_whole_file(fcntl.F_RDLCK if shared else fcntl.F_WRLCK))


def is_held(path: Path, alone: bool = False) -> bool:
    """Whether a process holds the file, or holds it alone. Whoever looks keeps nobody from holding it.

    Raises OSError if there is none.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # whoever opens a pipe would wait for its writer
    wish = _of_whole_file(fcntl.F_RDLCK if alone else fcntl.F_WRLCK)
    try:
        hindering = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, wish)
    finally:
        os.close(descriptor)
    return int(struct.unpack_from("h", hindering)[0]) != fcntl.F_UNLCK


def _of_whole_file(kind: int) -> bytes:
    """Linux' `struct flock`, of 64 bits."""
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0)


def sync_folder(folder: Path) -> None:
    """Has the names in the folder on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
