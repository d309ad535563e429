"""Blocks of tweets on disk, made before anybody waits for them: to read one takes a tenth of what it takes to make it.

A file holds a block: lengths and indexes of its tweets as uint16, row by row, then their texts. The folder's
name tells what the texts depend on, the code that makes them included.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from common.storage.disk import make_folder, needing_room

Part = tuple[bytes, int, int, int, int]
"""The JSON of a tweet's text and entities, then numbers: its author, whose tweet it refers to, topic, metrics."""

BLOCK = 4096
"""Tweets whose random numbers are drawn together."""

ROWS = 5
HEADER_BYTES = 2 * ROWS * BLOCK


BLOCK_BYTES = 1_700_000
"""What a block takes on disk, about."""


def blocks(ahead: Path, seed: int, languages: Mapping[str, float], number: int, count: int) -> list[Path]:
    """The files below `ahead` for `count` tweets of a seed from `number` on, whether they are there or not."""
    mix = hashlib.sha256(json.dumps(languages).encode()).hexdigest()[:8]
    folder = ahead / f"{_made_by()}-{mix}-{seed}"
    return [folder / f"{block:06}.block" for block in range(number // BLOCK, -(-(number + count) // BLOCK))]


def make_room(ahead: Path, wanted: Collection[Path], most_bytes: int) -> None:
    """Removes what other versions of the code have made, and then the oldest blocks, until those that are wanted fit
    into `most_bytes` with what is left; for who knows that nobody reads any."""
    for folder in ahead.glob("*-*"):
        if not folder.name.startswith(_made_by()):
            shutil.rmtree(folder, ignore_errors=True)
    others = {path: path.stat() for path in ahead.glob("*-*/*") if path not in wanted}
    surplus = sum(each.st_size for each in others.values()) + BLOCK_BYTES * len(wanted) - most_bytes
    for path in sorted(others, key=lambda each: others[each].st_mtime_ns):
        if surplus <= 0:
            return
        surplus -= others[path].st_size
        path.unlink()


def write(path: Path, parts: Iterable[Part]) -> None:
    """Raises DiskFull, and leaves nothing then."""
    texts, *indexes = zip(*parts, strict=True)
    header = np.array([list(map(len, texts)), *indexes], np.uint16)
    partial = path.with_suffix(f".{os.getpid()}")
    try:
        with needing_room(f"the tweets made ahead in {path.parent}"):
            make_folder(path.parent)
            partial.write_bytes(header.tobytes() + b"".join(texts))
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)


def is_whole(path: Path) -> bool:
    """Whether a block is there, and not cut off by an end of the machine."""
    try:
        with path.open("rb") as file:
            lengths, size = file.read(2 * BLOCK), os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return False
    return size >= HEADER_BYTES and size == HEADER_BYTES + int(np.frombuffer(lengths, np.uint16).sum(dtype=np.int64))


def read(path: Path) -> Iterator[Part]:
    content = path.read_bytes()
    rows = np.frombuffer(content, np.uint16, ROWS * BLOCK).reshape(ROWS, BLOCK)
    ends = (HEADER_BYTES + np.cumsum(rows[0], dtype=np.int64)).tolist()
    texts = map(content.__getitem__, map(slice, [HEADER_BYTES, *ends[:-1]], ends))
    return zip(texts, *(row.tolist() for row in rows[1:]), strict=True)


@cache
def _made_by() -> str:
    digest = hashlib.sha256(np.__version__.encode())
    here = Path(__file__).parent
    for file in sorted([*here.glob("*.py"), *here.glob("*.json"), *here.parent.glob("phrases.*")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
