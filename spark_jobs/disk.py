"""What Spark keeps on disk, for whoever asks: without Spark, which takes seconds to load."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from common.held import Held
from common.settings import Settings

BATCHES_KEPT = 20
"""Of how many micro-batches a checkpoint keeps the offsets, and the state as it was after each."""


def scratch_dir(settings: Settings, name: str) -> Path:
    """Where a local application keeps what it does not need after its end: shuffle files, copies of state and jars."""
    return settings.state_dir / "spark" / name


def held(settings: Settings) -> list[Held]:
    """The checkpoints of the queries, and the scratch of local applications, in bytes.

    Neither has a bound in bytes. A checkpoint is bounded by what there is to know: BATCHES_KEPT, and of the stateful
    query the buckets that the watermark has not passed, with their ids, of 8 bytes a tweet; files of older batches go
    once a minute. Scratch is a copy of the state and of the jars, and goes at the next start.
    """
    return [_held("checkpoints", settings.checkpoint_dir), _held("scratch of Spark", settings.state_dir / "spark")]


def _held(store: str, folder: Path) -> Held:
    files = list(_files(folder))
    oldest = min((modified for _, modified in files), default=None)
    return Held(store, sum(size for size, _ in files), None, "bytes", oldest)


def _files(folder: Path) -> Iterator[tuple[int, float]]:
    """Size and time of each file. Spark removes files while they are looked at."""
    for path in folder.rglob("*"):
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        if not path.is_dir():
            yield status.st_size, status.st_mtime
