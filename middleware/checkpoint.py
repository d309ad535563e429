"""The checkpoint of a query of Spark with one source, read and moved from outside: its offsets, as Spark keeps them.

`offsets/N` is written when batch N is planned, and tells where it ends; `commits/N` when it is complete. A batch that
is not complete is run again between the same offsets. `sources/0` holds where the query began.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from common.storage import files
from middleware.errors import MiddlewareError

VERSION = "v1"


class Batch(NamedTuple):
    """What Spark notes of a planned micro-batch beside its offset."""

    shuffle_partitions: int
    """By which its state is shared, for as long as there is the checkpoint."""

    watermark_ms: int
    """In ms since the epoch; 0 before the first."""


def last_planned(folder: Path) -> Batch | None:
    """Of the query's last batch, complete or not; None if there is none yet. Raises MiddlewareError."""
    last = max(_numbers(folder / "offsets"), default=None)
    if last is None:
        return None
    try:
        noted = json.loads(_lines(folder, last)[1])
        return Batch(int(noted["conf"]["spark.sql.shuffle.partitions"]), int(noted["batchWatermarkMs"]))
    except (ValueError, LookupError, TypeError) as error:
        raise MiddlewareError(f"{folder}/offsets/{last} does not tell of its batch: {error}") from error


class SourceOffset(msgspec.Struct, frozen=True):
    """The offset of the sources that have spark_common/, `{"life":"…","next":[17,4]}`: what tells the stream from a
    later one of its name, and of each partition the first event that is not read yet."""

    life: str
    next: list[int]

    @classmethod
    def parse(cls, stream: str, text: str) -> Self:
        """Raises MiddlewareError for a text that is none."""
        try:
            return msgspec.json.decode(text, type=cls)
        except msgspec.MsgspecError as error:
            raise MiddlewareError(f"not an offset of {stream} in a checkpoint: {text[:200]}") from error

    def text(self) -> str:
        return msgspec.json.encode(self).decode()

    def of(self, life: str) -> list[int]:
        """`next` in the stream that lives now: before its first event, where it was made after this one."""
        return self.next if self.life == life else [-1] * len(self.next)


class Checkpoint:
    """Of a query that does not run. Raises MiddlewareError where it holds what this does not know."""

    def __init__(self, folder: Path, initial_offset: tuple[str, str]) -> None:
        """`initial_offset`: as a SparkBinding tells it."""
        self._folder = folder
        self._initial, self._before_initial = folder / "sources" / "0" / initial_offset[0], initial_offset[1]

    def committed(self) -> str | None:
        """The source's offset up to which all is complete; None if the query has not begun."""
        last = self._last_commit()
        if last is not None:
            return self._source_offset(last)
        return self._initial_offset() if self._initial.exists() else None

    def move(self, change: Callable[[str], str]) -> None:
        """Changes the offset up to which all is complete, and those of the batch that is not.

        The former comes last: until it is changed, a query that was overtaken is seen to be so.
        """
        last = self._last_commit()
        for number in reversed(_numbers(self._folder / "offsets")):
            if last is None or number >= last:
                *metadata, source = _lines(self._folder, number)
                _replace(self._folder / "offsets" / str(number), "\n".join([*metadata, change(source)]))
        if last is None and self._initial.exists():
            _replace(self._initial, self._before_initial + change(self._initial_offset()))

    def _last_commit(self) -> int | None:
        return max(_numbers(self._folder / "commits"), default=None)

    def _initial_offset(self) -> str:
        text = self._initial.read_text()
        if not text.startswith(self._before_initial):
            raise MiddlewareError(f"{self._initial} is not where a query notes its first offset: {text[:100]!r}")
        return text.removeprefix(self._before_initial)

    def _source_offset(self, number: int) -> str:
        return _lines(self._folder, number)[-1]


def _lines(folder: Path, number: int) -> list[str]:
    file = folder / "offsets" / str(number)
    lines = file.read_text().splitlines()
    if len(lines) != 3 or lines[0] != VERSION:
        raise MiddlewareError(f"{file} is not the offset of one source in the form {VERSION}: {lines[:1]}")
    return lines


def _numbers(folder: Path) -> list[int]:
    return sorted(int(file.name) for file in folder.glob("*") if file.name.isdecimal())


def _replace(file: Path, text: str) -> None:
    """Without the checksum that Hadoop may have put beside it."""
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    files.replace(file, text)
