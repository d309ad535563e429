"""Tweets from files of JSON lines: plain, gzip or zstd, told by their first bytes."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import zstandard

from ingest.sources.base import GROUP_BYTES, Payload, Source
from ingest.stamp import created_now, payload_of

Timestamps = Literal["recorded", "now"]

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Replay(Source):
    """Each line that is not blank is a payload, whatever it holds, in the order of the files. A line of an archive
    stands for the one that was archived.

    With timestamps `now`, `created_at` becomes the time at which the tweet is meant to be sent; the payload's body,
    and with it the archive, keeps the original. Raises FileNotFoundError for a missing file at once.
    """

    name = "replay"

    def __init__(self, paths: Sequence[Path], timestamps: Timestamps = "recorded") -> None:
        self._paths = [path.resolve() for path in paths]
        for path in self._paths:
            if not path.is_file():
                raise FileNotFoundError(f"there is no file {path}")
        self._timestamps = timestamps
        self._lines = self._read()

    def options(self) -> dict[str, Any]:
        return {"path": [str(path) for path in self._paths], "timestamps": self._timestamps}

    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        payloads: list[Payload] = []
        size = 0
        for sent in sent_at_us:
            line = next(self._lines, None)
            if line is None:
                self.ended = True
                break
            payload = payload_of(line)
            payloads.append(created_now(payload, sent) if self._timestamps == "now" else payload)
            size += len(line)
            if size >= GROUP_BYTES:
                break
        return payloads

    def skip(self, count: int) -> None:
        next(islice(self._lines, count, count), None)

    def _read(self) -> Iterator[bytes]:
        for path in self._paths:
            with open_lines(path) as lines:
                yield from (line for line in lines if not line.isspace())


def open_lines(path: Path) -> IO[bytes]:
    """The file's content, unpacked."""
    with path.open("rb") as file:
        magic = file.read(4)
    if magic.startswith(GZIP):
        return io.BufferedReader(gzip.open(path, "rb"))
    if magic == ZSTD:
        reader = zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True, closefd=True)
        return io.BufferedReader(reader)
    return path.open("rb")
