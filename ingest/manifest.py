"""What became of a run: `<state_dir>/runs/<run>.jsonl`, appended by its ingester, read by the audit and on resuming."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.settings import Settings

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class RunExists(Exception):
    """A run of this name was there before, or is going on."""


@dataclass
class Manifest:
    """Counts are of sequence numbers from 0: `acknowledged` = n says that 0 to n - 1 are in the stream."""

    run: str
    source: str
    started_at_us: int
    options: dict[str, Any] = field(default_factory=dict)
    archived: int = 0
    acknowledged: int = 0
    finished: bool = False
    total: int | None = None


class ManifestWriter:
    """Appends to a manifest; holds its lock as long as the process lives, so that a dead run can be told."""

    def __init__(self, path: Path, descriptor: int, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._descriptor = descriptor

    @classmethod
    def create(cls, settings: Settings, run: str, source: str, options: dict[str, Any]) -> ManifestWriter:
        """Begins a run. Raises RunExists, or ValueError for a name that cannot be a file's."""
        if not RUN_NAME.fullmatch(run):
            raise ValueError(f"{run!r} cannot name a run: letters, digits, '.', '_' and '-', at most 64")
        folder = runs_dir(settings)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(folder / f"{run}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except FileExistsError:
            raise RunExists(f"there is a run {run!r} already: choose another name, or --resume") from None
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        manifest = Manifest(run, source, time.time_ns() // 1000, options)
        writer = cls(folder / f"{run}.jsonl", descriptor, manifest)
        writer._append({"run": run, "source": source, "started_at_us": manifest.started_at_us, "options": options})
        return writer

    @classmethod
    def reopen(cls, settings: Settings, run: str) -> ManifestWriter | None:
        """Goes on with an unfinished run whose process is gone; None if it is finished or alive."""
        path = runs_dir(settings) / f"{run}.jsonl"
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        manifest = read_manifest(path)
        if manifest is None or manifest.finished:
            os.close(descriptor)
            return None
        os.write(descriptor, b"\n")  # a torn last line ends here
        return cls(path, descriptor, manifest)

    def archived(self, count: int) -> None:
        """The archive itself is what is synced; this line only tells."""
        self.manifest.archived = count
        self._append({"archived": count}, sync=False)

    def acknowledged(self, count: int) -> None:
        self.manifest.acknowledged = count
        self._append({"acknowledged": count})

    def finish(self) -> None:
        """Nothing more will come. The total is what was acknowledged."""
        self.manifest.finished, self.manifest.total = True, self.manifest.acknowledged
        self._append({"finished": True, "total": self.manifest.total})

    def close(self) -> None:
        os.close(self._descriptor)

    def _append(self, record: dict[str, Any], sync: bool = True) -> None:
        os.write(self._descriptor, json.dumps(record).encode() + b"\n")
        if sync:
            os.fsync(self._descriptor)


def runs_dir(settings: Settings) -> Path:
    return settings.state_dir / "runs"


def read_manifest(path: Path) -> Manifest | None:
    """The manifest; None if not even its first line was written. A torn last line is passed over."""
    manifest: Manifest | None = None
    with path.open("rb") as lines:
        for line in lines:
            record: dict[str, Any] = {}
            with suppress(json.JSONDecodeError):
                record = json.loads(line)
            if manifest is None:
                if "run" in record:
                    manifest = Manifest(**record)
                continue
            manifest.archived = record.get("archived", manifest.archived)
            manifest.acknowledged = record.get("acknowledged", manifest.acknowledged)
            manifest.finished = record.get("finished", manifest.finished)
            manifest.total = record.get("total", manifest.total)
    return manifest


def read_manifests(settings: Settings) -> dict[str, Manifest]:
    """Every run of the instance on this middleware, by name, the oldest first."""
    found = [read_manifest(path) for path in runs_dir(settings).glob("*.jsonl")]
    runs = sorted((manifest for manifest in found if manifest), key=lambda manifest: manifest.started_at_us)
    return {manifest.run: manifest for manifest in runs}
