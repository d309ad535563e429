"""Runs that are written to the archive."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from common.settings import Settings
from ingest.archive.bounds import held
from ingest.archive.files import read
from ingest.archive.writing import Archive
from ingest.manifest import ManifestWriter
from ingest.sources.base import examine
from ingest.stamp import Stamper

RUN = "run-1"
STAMPER = Stamper("synthetic", RUN, 1 << 20)


def lines(first: int, count: int) -> list[bytes]:
    return [STAMPER.line(seq, 5, examine(b'{"data":{"id":"%d"}}' % seq)) for seq in range(first, first + count)]


def write(settings: Settings, first: int, count: int, run: str = RUN) -> None:
    archive = Archive(settings, run)
    for seq in range(first, first + count):
        archive.append(lines(seq, 1), seq)
    archive.close()


@contextmanager
def going_on(settings: Settings, acknowledged: int, run: str = RUN) -> Iterator[ManifestWriter]:
    with ManifestWriter.create(settings, run, "synthetic", {}) as manifest:
        manifest.acknowledged(acknowledged)
        yield manifest


def ended(settings: Settings, run: str, count: int = 100) -> None:
    """A run that was written and finished."""
    with going_on(settings, count, run) as manifest:
        write(settings, 0, count, run)
        manifest.finish()


def files(settings: Settings) -> list[str]:
    return sorted(path.name for path in (settings.archive_dir / RUN).iterdir())


def archived_bytes(settings: Settings) -> int:
    return held(settings).holds or 0


def seqs(settings: Settings, from_seq: int = 0) -> list[int]:
    return [entry.seq for entry in read(settings, RUN, from_seq)]
