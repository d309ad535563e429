"""Writes the archive: a run's lines are appended and synced, a full file is closed and then compressed."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import zstandard

from common.settings import Settings
from common.storage.disk import make_folder, needing_room, write_at
from common.storage.files import sync_folder
from ingest.archive.bounds import FILES_PER_AGE, LOOK_SECONDS, kept_s, prune
from ingest.archive.files import CLOSED, OPEN, PARTIAL, folders, listed, written_ns
from ingest.manifest import ManifestWriter, manifest_path, read_manifest
from ingest.sources.base import LIVE

log = logging.getLogger(__name__)

TIDY_AGAIN_SECONDS = 10.0
"""When compressing or removing failed."""


class Archive:
    """Appends the lines of one run; for one thread. A thread of its own compresses and removes."""

    def __init__(self, settings: Settings, run: str, source: str = "") -> None:
        self._settings = settings
        self._rotate_s = kept_s(settings) / FILES_PER_AGE if source in LIVE else math.inf
        self._opened_at = 0.0
        self._folder = settings.archive_dir / run
        self._path: Path | None = None
        self._descriptor = -1
        self._size = 0
        self._full, self._closing = threading.Event(), threading.Event()
        self._full.set()  # what earlier processes left is settled first
        self._tidying = threading.Thread(target=self._tidy, name="archive", daemon=True)
        self._tidying.start()

    def append(self, lines: Iterable[bytes], first_seq: int) -> None:
        """Returns when the lines are on disk; the first of them has the number `first_seq`.

        Raises DiskFull, after which none of them is in the archive.
        """
        content = b"".join(lines)
        with needing_room(f"the archive {self._folder}"):
            if self._path is None or self._is_full():
                self._open(first_seq)
            try:
                write_at(self._descriptor, content, self._size)
                os.fdatasync(self._descriptor)
            except BaseException:
                os.ftruncate(self._descriptor, self._size)  # half a line would spoil the next one
                raise
        self._size += len(content)

    def close(self) -> None:
        """Waits for a compression that is going on. The last file stays plain."""
        self._closing.set()
        self._full.set()
        self._tidying.join()
        if self._path:
            os.close(self._descriptor)
            self._path = None

    def _is_full(self) -> bool:
        return (self._size >= self._settings.archive_rotate_bytes
                or time.time() - self._opened_at >= self._rotate_s)

    def _open(self, first_seq: int) -> None:
        # A file of that name can hold nothing but a torn first line.
        make_folder(self._folder)
        path = self._folder / f"{first_seq:012d}{OPEN}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            sync_folder(self._folder)
        except BaseException:
            os.close(descriptor)
            raise
        if self._path:
            os.close(self._descriptor)
        self._path, self._descriptor, self._size, self._opened_at = path, descriptor, 0, time.time()
        self._full.set()

    def _tidy(self) -> None:
        failed, first = False, True
        while not self._closing.is_set():
            self._full.wait(TIDY_AGAIN_SECONDS if failed else LOOK_SECONDS)
            self._full.clear()
            try:
                prune(self._settings)
                if first:
                    settle_ended(self._settings, self._closing)
                if current := self._path:
                    settle(self._folder, self._closing, current)
                failed, first = False, False
            except Exception as error:
                if not failed:
                    log.warning("the archive is tidied again in %.0f s: %s", TIDY_AGAIN_SECONDS, error)
                failed = True


def settle(folder: Path, stop: threading.Event, current: Path | None = None) -> None:
    """Compresses the plain files of a run and removes what cut-off attempts left; for who holds the run's lock.

    Ends after a file once `stop` is set. `current`, the file that is written, and those after it are left alone.
    """
    for partial in folder.glob(f"*{PARTIAL}"):
        partial.unlink(missing_ok=True)
    for path in sorted(folder.glob(f"*{OPEN}")):
        if stop.is_set():
            return
        if current is None or path.name < current.name:
            with suppress(FileNotFoundError):  # somebody who keeps the bound was faster
                compress(path)


def settle_ended(settings: Settings, stop: threading.Event) -> None:
    """Settles the runs that are finished and in nobody's hands, until `stop` is set."""
    for folder in folders(settings):
        if stop.is_set():
            return
        path, unsettled = manifest_path(settings, folder.name), any(map(_is_unsettled, listed(folder)))
        # No other run is locked, be it for a moment: who resumes it just then would take it for alive.
        ended = unsettled and (manifest := read_manifest(path)) and manifest.finished
        if ended and (writer := ManifestWriter.claim(path)):
            with writer:
                settle(folder, stop)


def _is_unsettled(file: Path) -> bool:
    return file.suffix in (OPEN, PARTIAL)


def compress(path: Path) -> None:
    """Replaces a file by its compressed form, which is complete before the plain one goes."""
    target, partial = path.with_suffix(CLOSED), path.with_suffix(PARTIAL)
    try:
        with path.open("rb") as plain, partial.open("wb") as compressed:
            zstandard.ZstdCompressor(level=1).copy_stream(plain, compressed)
            compressed.flush()
            os.fsync(compressed.fileno())
        os.utime(partial, ns=(written_ns(path),) * 2)  # its age stays that of what it holds
    except OSError:
        partial.unlink(missing_ok=True)  # it takes room where there may be none
        raise
    partial.rename(target)
    sync_folder(path.parent)
    path.unlink()
