"""How many bytes lie between two offsets: by the files of the local brokers, as no client of Python asks them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from common.settings import Settings


@dataclass(frozen=True)
class File:
    """Part of a partition, in which events `first` to `end` - 1 take `size` bytes."""

    first: int
    end: int
    size: int

    def between(self, first: int, end: int) -> int:
        """Bytes of those events that lie between the offsets, all being of the mean size."""
        common = min(end, self.end) - max(first, self.first)
        return round(self.size * common / (self.end - self.first)) if common > 0 else 0


def partition_bound(settings: Settings, partitions: int) -> int:
    """What a partition keeps at least; retention removes a file as soon as those after it have as much."""
    return max(1, settings.stream_retention_bytes // partitions)


def bytes_between(
    settings: Settings, topic: str, first: Mapping[int, int], end: Mapping[int, int]
) -> dict[int, int] | None:
    """By partition, of the copy that holds most, as one of a dead broker lags behind; None where the files are
    elsewhere. A partition that `first` lacks counts from its beginning."""
    logs = list(settings.state_dir.glob("kafka*/log"))
    if settings.middleware_uri or not logs:
        return None
    return {
        partition: max(
            sum(file.between(first.get(partition, 0), last) for file in files(log / f"{topic}-{partition}", last))
            for log in logs
        )
        for partition, last in end.items()
    }


def files(folder: Path, end: int) -> list[File]:
    """The files of a partition that ends there; those that retention removes meanwhile count as empty."""
    named = sorted((int(path.stem), path) for path in folder.glob("*.log"))
    ends = [first for first, _ in named[1:]] + [end]
    return [File(first, until, _size(path)) for (first, path), until in zip(named, ends, strict=True) if until > first]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
