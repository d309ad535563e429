"""What became of a run: `<state_dir>/runs/<run>.jsonl`, kept by its ingester, read by the audit and on resuming.

Three lines of JSON, of a size that does not grow: what the run is, and two states, written in turns. The newer one that
is whole counts: a crash in the middle of writing one leaves the other, which was on disk before.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.closing import Closing
from common.settings import Settings
from common.storage.disk import make_folder, needing_room, write_at
from common.storage.files import sync_folder
from common.storage.held import Held

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

STATE_BYTES = 192
"""Size of a state, its end of line included."""


class RunExists(Exception):
    """A run of this name was there before, or is going on."""


@dataclass
class Manifest:
    """Counts are of sequence numbers from 0: `acknowledged` = n says that 0 to n - 1 are in the stream.

    `archived` is as it was when something was acknowledged for the last time: the archive itself knows better.
    """

    run: str
    source: str
    started_at_us: int
    options: dict[str, Any] = field(default_factory=dict)
    archived: int = 0
    acknowledged: int = 0
    finished: bool = False
    total: int | None = None
    changed_at_us: int = field(default=0, compare=False)
    """As read: when something was acknowledged for the last time, or the run ended."""


class ManifestWriter(Closing):
    """Keeps a manifest; holds its lock until it is closed or the process ends, so that a dead run can be told."""

    def __init__(self, path: Path, descriptor: int, manifest: Manifest, version: int = 0) -> None:
        self.path = path
        self.manifest = manifest
        self._descriptor: int | None = descriptor
        self._version = version
        self._states_at = len(_head(manifest))

    @classmethod
    def create(cls, settings: Settings, run: str, source: str, options: dict[str, Any]) -> ManifestWriter:
        """Begins a run, and forgets old ones. Raises RunExists, DiskFull, or ValueError: no file can have the name."""
        if not RUN_NAME.fullmatch(run):
            raise ValueError(f"{run!r} cannot name a run: letters, digits, '.', '_' and '-', at most 64")
        path, manifest = manifest_path(settings, run), Manifest(run, source, time.time_ns() // 1000, options)
        with needing_room(f"the manifest of {run}"):
            make_folder(path.parent)
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            except FileExistsError:
                raise RunExists(f"there is a run {run!r} already: choose another name, or --resume") from None
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                write_at(descriptor, _head(manifest) + _state(manifest, 0) * 2, 0)
                os.fsync(descriptor)
                sync_folder(path.parent)
            except BaseException:
                path.unlink()
                os.close(descriptor)
                raise
        prune_manifests(settings)
        return cls(path, descriptor, manifest)

    @classmethod
    def reopen(cls, settings: Settings, run: str) -> ManifestWriter | None:
        """Goes on with an unfinished run whose process is gone; None if it is finished or alive."""
        writer = cls.claim(manifest_path(settings, run))
        if writer and writer.manifest.finished:
            writer.close()
            return None
        return writer

    @classmethod
    def claim(cls, path: Path) -> ManifestWriter | None:
        """The manifest of a run that no process holds, finished or not; None if one does, or there is no such run."""
        with suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if found := _read(path):
                    return cls(path, descriptor, *found)
            except BlockingIOError:
                pass
            os.close(descriptor)
        return None

    def archived(self, count: int) -> None:
        """The archive itself is what is synced; this is only noted, and written with what is acknowledged next."""
        self.manifest.archived = count

    def acknowledged(self, count: int) -> None:
        """Returns when it is on disk. Raises DiskFull, after which what was on disk before holds."""
        self._write(acknowledged=count)

    def finish(self) -> None:
        """Nothing more will come. The total is what was acknowledged. Raises DiskFull."""
        self._write(finished=True, total=self.manifest.acknowledged)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, **changes: Any) -> None:
        assert self._descriptor is not None, f"the manifest of {self.manifest.run} is closed"
        before = {name: getattr(self.manifest, name) for name in changes}
        version = self._version + 1
        self._set(changes)
        try:
            with needing_room(f"the manifest of {self.manifest.run}"):
                state = _state(self.manifest, version)
                write_at(self._descriptor, state, self._states_at + version % 2 * STATE_BYTES)
                os.fdatasync(self._descriptor)
        except BaseException:
            self._set(before)
            raise
        self._version = version

    def _set(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(self.manifest, name, value)


def runs_dir(settings: Settings) -> Path:
    return settings.state_dir / "runs"


def manifest_path(settings: Settings, run: str) -> Path:
    return runs_dir(settings) / f"{run}.jsonl"


def read_manifest(path: Path) -> Manifest | None:
    """The manifest; None if there is none, or its writing was cut off when the run was to begin."""
    found = _read(path)
    return found[0] if found else None


def read_manifests(settings: Settings) -> dict[str, Manifest]:
    """Every run of the instance on this middleware, by name, the oldest first; without what is `unreadable`."""
    found = [read_manifest(path) for path in _paths(settings)]
    runs = sorted((manifest for manifest in found if manifest), key=lambda manifest: manifest.started_at_us)
    return {manifest.run: manifest for manifest in runs}


def unreadable(settings: Settings, known: Collection[str]) -> list[Path]:
    """Manifests that were written, and cannot be read any more: what their runs have published is not known.

    `known` are the runs that `read_manifests` has read just before, which are not read again.
    """
    return [path for path in _paths(settings)
            if path.stem not in known and _size(path) > 2 * STATE_BYTES and read_manifest(path) is None]


def prune_manifests(settings: Settings) -> None:
    """Forgets the oldest finished runs beyond `manifests_max` of which nothing is archived any more."""
    surplus = len(_paths(settings)) - settings.manifests_max
    if surplus <= 0:
        return
    gone = (run.run for run in read_manifests(settings).values()
            if run.finished and not (settings.archive_dir / run.run).exists())
    for _, run in zip(range(surplus), gone, strict=False):
        manifest_path(settings, run).unlink(missing_ok=True)


def held(settings: Settings) -> Held:
    """How many runs are known, and since when."""
    runs = list(read_manifests(settings).values())
    oldest_at = runs[0].started_at_us / 1e6 if runs else None
    return Held("manifests", len(runs), settings.manifests_max, "rows", oldest_at)


def _paths(settings: Settings) -> list[Path]:
    return list(runs_dir(settings).glob("*.jsonl"))


def _size(path: Path) -> int:
    """0 of one that is gone; less than that of two states where its writing was cut off."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def _head(manifest: Manifest) -> bytes:
    run = {"run": manifest.run, "source": manifest.source, "started_at_us": manifest.started_at_us}
    return json.dumps({**run, "options": manifest.options}).encode() + b"\n"


def _state(manifest: Manifest, version: int) -> bytes:
    """One of the two states: JSON, filled up with spaces, and its checksum."""
    content = json.dumps({
        "version": version, "archived": manifest.archived, "acknowledged": manifest.acknowledged,
        "finished": manifest.finished, "total": manifest.total,
    }).encode()
    filled = content.ljust(STATE_BYTES - 12)
    return b"%b # %08x\n" % (filled, zlib.crc32(filled))


def _read(path: Path) -> tuple[Manifest, int] | None:
    """The manifest, and the version of its newer whole state."""
    with suppress(FileNotFoundError, ValueError, TypeError):
        changed_at_us = path.stat().st_mtime_ns // 1000
        head, *states = path.read_bytes().splitlines(keepends=True)
        manifest = Manifest(**json.loads(head), changed_at_us=changed_at_us)
        newest = max(_whole(states), key=lambda state: state["version"])
        version = newest.pop("version")
        for name, value in newest.items():
            setattr(manifest, name, value)
        return manifest, version
    return None


def _whole(states: list[bytes]) -> Iterator[dict[str, Any]]:
    for state in states:
        filled, _, checksum = state.partition(b" # ")
        if len(state) == STATE_BYTES and b"%08x\n" % zlib.crc32(filled) == checksum:
            yield json.loads(filled)
