"""results.json, and the page beside it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from common.experiments import RESULTS
from common.storage.files import sync_folder


def command() -> str:
    """What was called, as it is written to results.json."""
    return " ".join(["murmur", *sys.argv[1:]])


def write_results(folder: Path, content: dict[str, Any]) -> Path:
    """Writes results.json, complete or not at all, and on disk before it is relied upon."""
    folder.mkdir(parents=True, exist_ok=True)
    target, partial = folder / RESULTS, folder / f"{RESULTS}.partial"
    with partial.open("w") as file:
        json.dump(content, file, indent=1, allow_nan=False)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(target)
    sync_folder(folder)
    return target
