"""Payloads on disk before they are published: JSON lines in `<archive_dir>/<run>/<first seq>.jsonl[.zst]`.

A file is closed at `archive_rotate_bytes` and then compressed. The whole archive is bounded: the oldest files go first,
but none that holds an event which is not acknowledged.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO

import zstandard

from common.settings import Settings
from ingest.stamp import Archived, read_line

OPEN, CLOSED = ".jsonl", ".jsonl.zst"


class Archive:
    """Appends the lines of one run; for one thread."""

    def __init__(self, settings: Settings, run: str, next_seq: int, acknowledged: Callable[[str], int]) -> None:
        """`acknowledged` tells how many events of a run are acknowledged: the bound spares the others."""
        self._folder = settings.archive_dir / run
        self._folder.mkdir(parents=True, exist_ok=True)
        self._root = settings.archive_dir
        self._max_bytes = settings.archive_max_bytes
        self._rotate_bytes = settings.archive_rotate_bytes
        self._acknowledged = acknowledged
        self._compressing: threading.Thread | None = None
        self._open(next_seq)

    def append(self, lines: Iterable[bytes], next_seq: int) -> None:
        """Returns when the lines are on disk. `next_seq` is the number after the last of them."""
        self._file.write(b"".join(lines))
        self._file.flush()
        os.fdatasync(self._file.fileno())
        if self._file.tell() >= self._rotate_bytes:
            self._rotate(next_seq)

    def close(self) -> None:
        """Waits for a compression that is going on. The last file stays plain."""
        self._file.close()
        if self._compressing:
            self._compressing.join()

    def _open(self, next_seq: int) -> None:
        # A file of that name can hold nothing but a torn first line.
        self._path = self._folder / f"{next_seq:012d}{OPEN}"
        self._file: IO[bytes] = self._path.open("wb")
        folder = os.open(self._folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def _rotate(self, next_seq: int) -> None:
        self._file.close()
        full = self._path
        self._open(next_seq)
        if self._compressing:
            self._compressing.join()
        self._compressing = threading.Thread(target=self._settle, args=(full,), name="archive")
        self._compressing.start()

    def _settle(self, full: Path) -> None:
        compress(full)
        prune(self._root, self._max_bytes, self._acknowledged)


def compress(path: Path) -> None:
    """Replaces a file by its compressed form, which is complete before the plain one goes."""
    target, partial = path.with_suffix(CLOSED), path.with_suffix(".partial")
    with path.open("rb") as plain, partial.open("wb") as compressed:
        zstandard.ZstdCompressor(level=1).copy_stream(plain, compressed)
        compressed.flush()
        os.fsync(compressed.fileno())
    partial.rename(target)
    path.unlink()


def prune(root: Path, max_bytes: int, acknowledged: Callable[[str], int]) -> None:
    """Removes the oldest files until the archive fits, except the newest of each run and what is not acknowledged."""
    total = sum(path.stat().st_size for path in root.glob("*/*.jsonl*"))
    removable = []
    for folder in root.iterdir():
        files, done = _files(folder), acknowledged(folder.name)
        removable += [file for file, following in pairwise(files) if _first_seq(following) <= done]
    for path in sorted(removable, key=lambda path: path.stat().st_mtime_ns):
        if total <= max_bytes:
            return
        total -= path.stat().st_size
        path.unlink()


def read(settings: Settings, run: str, from_seq: int) -> Iterator[Archived]:
    """The archived events of a run from a number on. Torn lines are passed over: their events never became any."""
    files = _files(settings.archive_dir / run)
    for file, following in zip(files, [*files[1:], None], strict=True):
        if following and _first_seq(following) <= from_seq:
            continue
        with _lines(file) as lines:
            for line in lines:
                entry = read_line(line)
                if entry and entry.seq >= from_seq:
                    yield entry


def _lines(file: Path) -> IO[bytes]:
    if file.name.endswith(CLOSED):
        return io.BufferedReader(zstandard.open(file, "rb"))  # type: ignore[arg-type]
    return file.open("rb")


def _files(folder: Path) -> list[Path]:
    """Files of a run in order; a plain file wins over its compressed form, whose making may have been cut off."""
    by_seq = {_first_seq(path): path for path in sorted(folder.glob("*.jsonl*"), reverse=True)}
    return [by_seq[seq] for seq in sorted(by_seq)]


def _first_seq(file: Path) -> int:
    return int(file.name.partition(".")[0])
