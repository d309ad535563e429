"""What bounds the archive.

In bytes the whole of it: the oldest files go first, those of ended runs to the last one, but none that holds an event
which is not acknowledged. What people wrote, the archives of live sources, is bounded in time as well.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import nullcontext, suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import zstandard

from common.settings import Settings
from common.storage.held import Held
from ingest.archive.files import PARTIAL, entries, first_seq, folders, in_order, listed, size_of, written_ns
from ingest.manifest import ManifestWriter, manifest_path, read_manifest
from ingest.sources.base import LIVE

log = logging.getLogger(__name__)

LOOK_SECONDS = 60.0
"""How often it is looked, at least, for what is too old."""

FILES_PER_AGE = 24
"""Of a live source: a file is closed, at the latest, after this part of the time for which it is kept."""


def prune(settings: Settings) -> None:
    """Removes what is too old, then the oldest files until the archive fits; of a run that goes on neither the newest
    nor what is not acknowledged. Others may be doing the same."""
    _prune_live(settings)
    surplus = sum(size_of(file) for folder in folders(settings) for file in listed(folder)) - settings.archive_max_bytes
    if surplus <= 0:
        return
    removable = [file for folder in folders(settings) for file in _removable(settings, folder)]
    for path in sorted(removable, key=written_ns):
        if surplus <= 0:
            return
        surplus -= size_of(path)
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
        time.sleep(LOOK_SECONDS)


def _prune_live(settings: Settings) -> None:
    """Removes what live sources sent `live_archive_kept_h` ago. Nobody writes to a file that is so old any more."""
    written_before_ns = time.time_ns() - int(kept_s(settings) * (1 - 1 / FILES_PER_AGE) * 1e9)
    for folder in folders(settings):
        if not any(written_ns(file) < written_before_ns for file in listed(folder)):
            continue
        manifest = read_manifest(manifest_path(settings, folder.name))
        if manifest and manifest.source in LIVE:
            files = _removable(settings, folder)
            newest = in_order(folder)[-1:]
            if not manifest.finished and newest and _ends(newest[0]) <= manifest.acknowledged:
                files += newest
            for file in files:
                if written_ns(file) < written_before_ns:
                    _remove(file)


def _ends(file: Path) -> int:
    """The number behind the last event of a file."""
    return max((entry.seq + 1 for entry in entries(file)), default=0)


def kept_s(settings: Settings) -> float:
    """For how long what live sources sent stays, in seconds."""
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
    for folder in folders(settings):
        path = manifest_path(settings, folder.name)
        manifest = read_manifest(path)
        if manifest is None or manifest.source != source:
            continue
        writer = ManifestWriter.claim(path)
        with writer or nullcontext():
            removable = listed(folder) if writer else _removable(settings, folder)
            files, size = files + len(removable), size + sum(map(size_of, removable))
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
    files = [file for folder in folders(settings) for file in listed(folder)]
    oldest_at = None
    for file in sorted((file for file in files if file.suffix != PARTIAL), key=written_ns):
        with suppress(OSError, zstandard.ZstdError):
            if first := next(entries(file), None):
                oldest_at = first.sent_at_us / 1e6
                break
    return Held("archive", sum(map(size_of, files)), settings.archive_max_bytes, "bytes", oldest_at)


def _removable(settings: Settings, folder: Path) -> list[Path]:
    manifest, files = read_manifest(manifest_path(settings, folder.name)), in_order(folder)
    if manifest is None:
        return []
    if manifest.finished:
        return listed(folder)
    return [file for file, following in pairwise(files) if first_seq(following) <= manifest.acknowledged]
