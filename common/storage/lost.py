"""What was given up when retention had overtaken a reader: `<state_dir>/lost.jsonl`, one range a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from common.settings import Settings
from common.storage.files import sync_folder
from common.tweets import Reader


@dataclass(frozen=True)
class Lost:
    """Events `first_seq` to `last_seq`, both included, of a run: gone before `reader` had read them.

    Of the readers that count, `run` is empty and the numbers are starts of buckets, in seconds since the epoch, both
    included: their counts may be too low. `recorded_at` is RFC 3339 in UTC.
    """

    reader: Reader
    run: str
    first_seq: int
    last_seq: int
    recorded_at: str


def lost_file(settings: Settings) -> Path:
    return settings.state_dir / "lost.jsonl"


def read_lost(settings: Settings) -> list[Lost]:
    """All that was recorded, in that order; nothing if nothing ever was. A line that was not written whole is not."""
    try:
        lines = lost_file(settings).read_text().splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        with suppress(json.JSONDecodeError):
            found.append(Lost(**json.loads(line)))
    return found


def record_lost(settings: Settings, lost: Iterable[Lost]) -> None:
    """Adds ranges, on disk when it returns."""
    with lost_file(settings).open("a") as file:
        file.write("\n")  # a line that was not written whole ends here
        file.writelines(json.dumps(asdict(each)) + "\n" for each in lost)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(lost_file(settings).parent)
