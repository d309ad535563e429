"""Tweets from files of JSON lines: plain, gzip or zstd, told by their first bytes. They come as fast as they are taken,
or in the rhythm in which they were written."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import zstandard

from ingest.sources.base import GROUP_BYTES, Payload, Source, parse
from ingest.stamp import created_now, payload_of

Timestamps = Literal["recorded", "now"]

LONGEST_PAUSE_US = 60_000_000
"""In the time of the file: what was cut off for an hour, or is dated wrongly, keeps nobody waiting."""

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Replay(Source):
    """Each line that is not blank is a payload, whatever it holds, in the order of the files. A line of an archive
    stands for the one that was archived.

    With timestamps `now`, `created_at` becomes the time at which the tweet is meant to be sent; the payload's body,
    and with it the archive, keeps the original. Raises FileNotFoundError for a missing file at once.

    With a `speed` they come as far apart as they were written, that many times faster: 1 is as it was. One without a
    date comes with the one before it, and so does an older one; no pause is longer than LONGEST_PAUSE_US.
    """

    name = "replay"

    def __init__(self, paths: Sequence[Path], timestamps: Timestamps = "recorded", speed: float | None = None) -> None:
        self._paths = [path.resolve() for path in paths]
        for path in self._paths:
            if not path.is_file():
                raise FileNotFoundError(f"there is no file {path}")
        self._timestamps = timestamps
        self._lines = self._read()
        self._rhythm = Rhythm(speed) if speed else None
        self._next: Payload | None = None

    def options(self) -> dict[str, Any]:
        speed = {"speed": self._rhythm.speed} if self._rhythm else {}
        return {"path": [str(path) for path in self._paths], "timestamps": self._timestamps, **speed}

    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        payloads: list[Payload] = []
        size = 0
        for sent in sent_at_us:
            if self._next is None:
                line = next(self._lines, None)
                if line is None:
                    self.ended = True
                    break
                self._next = payload_of(line)
            if self._rhythm and self._rhythm.due_us(self._next, sent) > sent:
                break
            payload, self._next = self._next, None
            payloads.append(created_now(payload, sent) if self._timestamps == "now" else payload)
            size += len(payload.body)
            if size >= GROUP_BYTES:
                break
        return payloads

    def skip(self, count: int) -> None:
        next(islice(self._lines, count, count), None)

    def _read(self) -> Iterator[bytes]:
        for path in self._paths:
            with open_lines(path) as lines:
                yield from (line for line in lines if not line.isspace())


class Rhythm:
    """When payloads come that follow one another as they were written, `speed` times faster."""

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self._began_us: int | None = None
        self._latest_us, self._passed_us = 0, 0

    def due_us(self, payload: Payload, now_us: int) -> int:
        """The first one with a date now, and each other one that much later; µs since 1970."""
        written_us = _written_us(payload)
        if written_us is not None and self._began_us is None:
            self._began_us, self._latest_us = now_us, written_us
        if self._began_us is None:
            return now_us
        if written_us is not None and written_us > self._latest_us:
            self._passed_us += min(written_us - self._latest_us, LONGEST_PAUSE_US)
            self._latest_us = written_us
        return self._began_us + int(self._passed_us / self.speed)


def _written_us(payload: Payload) -> int | None:
    """Of a tweet, or of a deletion; None if it does not tell."""
    tweet = parse(payload.body)
    data = tweet.get("data") if isinstance(tweet, dict) else None
    for name in ("delete", "user_delete"):
        if isinstance(data, dict) and isinstance(data.get(name), dict):
            data = data[name]
    written = (data.get("created_at") or data.get("event_at")) if isinstance(data, dict) else None
    try:
        return int(datetime.fromisoformat(written).timestamp() * 1e6) if isinstance(written, str) else None
    except (ValueError, OverflowError):
        return None


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
