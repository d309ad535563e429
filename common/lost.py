"""What was lost to retention and accepted by whoever runs the instance: `<state_dir>/lost.jsonl`, only appended to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from common import files
from common.settings import Settings
from common.tweets import Reader


class Lost(Struct, frozen=True):
    """Events that `reader` never read, as `stream` let go of them before: of `run`, `first_seq` to `last_seq`, both
    included.

    For the readers that count, `run` is empty and the numbers are starts of buckets, in seconds since the epoch: the
    counts of these buckets, both included, may be too low. `recorded_at` is RFC 3339 in UTC.
    """

    reader: Reader
    stream: str
    run: str
    first_seq: int
    last_seq: int
    recorded_at: str


_encode, _decode = msgspec.json.Encoder().encode, msgspec.json.Decoder(Lost).decode


def lost_file(settings: Settings) -> Path:
    return settings.state_dir / "lost.jsonl"


def record_lost(settings: Settings, lost: Iterable[Lost]) -> None:
    """Adds ranges, on disk when it returns."""
    lines = b"".join(b"\n" + _encode(one) for one in lost) + b"\n"  # a torn last line ends here
    with lost_file(settings).open("ab") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())
    files.sync_folder(settings.state_dir)


def read_lost(settings: Settings) -> list[Lost]:
    """All that was recorded, in that order; nothing if nothing ever was. A torn line was not recorded."""
    try:
        lines = lost_file(settings).read_bytes().splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in filter(None, lines):
        try:
            found.append(_decode(line))
        except msgspec.MsgspecError:
            continue
    return found
