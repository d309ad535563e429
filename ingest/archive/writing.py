"""Payloads on disk before they are published: JSON lines in `<archive_dir>/<run>/<first seq>.jsonl[.zst]`.

A file is closed at `archive_rotate_bytes` and then compressed. The whole archive is bounded: the oldest files go first,
those of ended runs to the last one, but none that holds an event which is not acknowledged. What people wrote, the
archives of live sources, is bounded in time as well.
"""

from __future__ import annotations

import io
import logging
import math
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple

import zstandard

from common.settings import Settings
from common.storage.disk import make_folder, needing_room, write_at
from common.storage.files import sync_folder
from common.storage.held import Held
from ingest.manifest import ManifestWriter, manifest_path, read_manifest
from ingest.sources.base import LIVE
from ingest.stamp import Archived, read_line

log = logging.getLogger(__name__)

OPEN, CLOSED, PARTIAL = ".jsonl", ".jsonl.zst", ".partial"

TIDY_AGAIN_SECONDS = 10.0
"""When compressing or removing failed."""

TIDY_SECONDS = 60.0
"""How often it is looked, at least, for what is too old."""

FILES_PER_AGE = 24
"""Of a live source: a file is closed, at the latest, after this part of the time for which it is kept."""


class Archive:
    """Appends the lines of one run; for one thread. A thread of its own compresses and removes."""

    def __init__(self, settings: Settings, run: str, source: str = "") -> None:
        self._settings = settings
        self._rotate_s = _kept_s(settings) / FILES_PER_AGE if source in LIVE else math.inf
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
            self._full.wait(TIDY_AGAIN_SECONDS if failed else TIDY_SECONDS)
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
    for folder in _folders(settings):
        if stop.is_set():
            return
        path, unsettled = manifest_path(settings, folder.name), any(map(_is_unsettled, _listed(folder)))
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
        os.utime(partial, ns=(_written_ns(path),) * 2)  # its age stays that of what it holds
    except OSError:
        partial.unlink(missing_ok=True)  # it takes room where there may be none
        raise
    partial.rename(target)
    sync_folder(path.parent)
    path.unlink()


def prune(settings: Settings) -> None:
    """Removes what is too old, then the oldest files until the archive fits; of a run that goes on neither the newest
    nor what is not acknowledged. Others may be doing the same."""
    _prune_live(settings)
    surplus = sum(_size(file) for folder in _folders(settings) for file in _listed(folder)) - settings.archive_max_bytes
    if surplus <= 0:
        return
    removable = [file for folder in _folders(settings) for file in _removable(settings, folder)]
    for path in sorted(removable, key=_written_ns):
        if surplus <= 0:
            return
        surplus -= _size(path)
        _remove(path)


def watch(settings: Settings) -> None:
    """Begins to look for what is too old, in a thread of its own that ends with the process: nobody may be writing."""
    threading.Thread(target=_watch, args=(settings,), name="archive-age", daemon=True).start()


def _watch(settings: Settings) -> None:
    while True:
        try:
            _prune_live(settings)
        except Exception as error:
            log.warning("what is too old stays in the archive for now: %s", error)
        time.sleep(TIDY_SECONDS)


def _prune_live(settings: Settings) -> None:
    """Removes what live sources sent `live_archive_kept_h` ago. Nobody writes to a file that is so old any more."""
    written_before_ns = time.time_ns() - int(_kept_s(settings) * (1 - 1 / FILES_PER_AGE) * 1e9)
    for folder in _folders(settings):
        if not any(_written_ns(file) < written_before_ns for file in _listed(folder)):
            continue
        manifest = read_manifest(manifest_path(settings, folder.name))
        if manifest and manifest.source in LIVE:
            files = _removable(settings, folder)
            newest = _files(folder)[-1:]
            if not manifest.finished and newest and _ends(newest[0]) <= manifest.acknowledged:
                files += newest
            for file in files:
                if _written_ns(file) < written_before_ns:
                    _remove(file)


def _ends(file: Path) -> int:
    """The number behind the last event of a file."""
    return max((entry.seq + 1 for entry in _entries(file)), default=0)


def _kept_s(settings: Settings) -> float:
    return settings.live_archive_kept_h * 3600.0


class Removed(NamedTuple):
    """What `remove_source` removed, and which runs go on, whose newest file stays."""

    files: int
    bytes: int
    going_on: list[str]


def remove_source(settings: Settings, source: str) -> Removed:
    """Removes the archives of a source, however old they are. What was not published of a run that died is lost."""
    files = size = 0
    going_on = []
    for folder in _folders(settings):
        path = manifest_path(settings, folder.name)
        manifest = read_manifest(path)
        if manifest is None or manifest.source != source:
            continue
        writer = ManifestWriter.claim(path)
        with writer or nullcontext():
            removable = _listed(folder) if writer else _removable(settings, folder)
            files, size = files + len(removable), size + sum(map(_size, removable))
            for file in removable:
                _remove(file)
        if not writer:
            going_on.append(folder.name)
    return Removed(files, size, going_on)


def _remove(file: Path) -> None:
    file.unlink(missing_ok=True)
    with suppress(OSError):  # it holds more, or somebody who writes to it has made it anew
        file.parent.rmdir()


def held(settings: Settings) -> Held:
    """Bytes of the archive, and when its oldest event was meant to be sent."""
    files = [file for folder in _folders(settings) for file in _listed(folder)]
    oldest_at = None
    for file in sorted((file for file in files if file.suffix != PARTIAL), key=_written_ns):
        with suppress(OSError, zstandard.ZstdError):
            if first := next(_entries(file), None):
                oldest_at = first.sent_at_us / 1e6
                break
    return Held("archive", sum(map(_size, files)), settings.archive_max_bytes, "bytes", oldest_at)


def read(settings: Settings, run: str, from_seq: int) -> Iterator[Archived]:
    """The archived events of a run from a number on. Torn lines are passed over: their events never became any."""
    files = _files(settings.archive_dir / run)
    for file, following in zip(files, [*files[1:], None], strict=False):
        if following and _first_seq(following) <= from_seq:
            continue
        yield from (entry for entry in _entries(file) if entry.seq >= from_seq)


def _entries(file: Path) -> Iterator[Archived]:
    with _lines(file) as lines:
        for line in lines:
            if entry := read_line(line):
                yield entry


def _lines(file: Path) -> IO[bytes]:
    if file.name.endswith(CLOSED):
        return io.BufferedReader(zstandard.open(file, "rb"))
    return file.open("rb")


def _removable(settings: Settings, folder: Path) -> list[Path]:
    manifest, files = read_manifest(manifest_path(settings, folder.name)), _files(folder)
    if manifest is None:
        return []
    if manifest.finished:
        return _listed(folder)
    return [file for file, following in pairwise(files) if _first_seq(following) <= manifest.acknowledged]


def _folders(settings: Settings) -> list[Path]:
    return [folder for folder in settings.archive_dir.glob("*") if folder.is_dir()]


def _listed(folder: Path) -> list[Path]:
    """All files of a run, unfinished ones and doubles included; none if somebody has removed it meanwhile."""
    with suppress(FileNotFoundError):
        return list(folder.iterdir())
    return []


def _files(folder: Path) -> list[Path]:
    """Files of a run in order; a plain file wins over its compressed form, whose making may have been cut off."""
    by_seq = {_first_seq(path): path for path in sorted(_listed(folder), reverse=True) if path.match("*.jsonl*")}
    return [by_seq[seq] for seq in sorted(by_seq)]


def _size(file: Path) -> int:
    """0 of a file that is gone."""
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0


def _written_ns(file: Path) -> int:
    with suppress(FileNotFoundError):
        return file.stat().st_mtime_ns
    return 0


def _first_seq(file: Path) -> int:
    return int(file.name.partition(".")[0])
