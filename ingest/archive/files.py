"""Files of the archive: JSON lines in `<archive_dir>/<run>/<first seq>.jsonl[.zst]`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import zstandard

from common.settings import Settings
from ingest.stamp import Archived, read_line

OPEN, CLOSED, PARTIAL = ".jsonl", ".jsonl.zst", ".partial"


def read(settings: Settings, run: str, from_seq: int) -> Iterator[Archived]:
    """The archived events of a run from a number on. Torn lines are passed over: their events never became any."""
    files = in_order(settings.archive_dir / run)
    for file, following in zip(files, [*files[1:], None], strict=False):
        if following and first_seq(following) <= from_seq:
            continue
        yield from (entry for entry in entries(file) if entry.seq >= from_seq)


def entries(file: Path) -> Iterator[Archived]:
    with _lines(file) as lines:
        for line in lines:
            if entry := read_line(line):
                yield entry


def _lines(file: Path) -> IO[bytes]:
    if file.name.endswith(CLOSED):
        return io.BufferedReader(zstandard.open(file, "rb"))
    return file.open("rb")


def folders(settings: Settings) -> list[Path]:
    return [folder for folder in settings.archive_dir.glob("*") if folder.is_dir()]


def listed(folder: Path) -> list[Path]:
    """All files of a run, unfinished ones and doubles included; none if somebody has removed it meanwhile."""
    with suppress(FileNotFoundError):
        return list(folder.iterdir())
    return []


def in_order(folder: Path) -> list[Path]:
    """Files of a run in order; a plain file wins over its compressed form, whose making may have been cut off."""
    by_seq = {first_seq(path): path for path in sorted(listed(folder), reverse=True) if path.match("*.jsonl*")}
    return [by_seq[seq] for seq in sorted(by_seq)]


def size_of(file: Path) -> int:
    """0 of a file that is gone."""
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0


def written_ns(file: Path) -> int:
    with suppress(FileNotFoundError):
        return file.stat().st_mtime_ns
    return 0


def first_seq(file: Path) -> int:
    return int(file.name.partition(".")[0])
