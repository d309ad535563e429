"""results.json, and the page beside it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from common.experiments import RESULTS


def command() -> str:
    """What was called, as it is written to results.json."""
    return " ".join(["murmur", *sys.argv[1:]])


def write_results(folder: Path, content: dict[str, Any]) -> Path:
    """Writes results.json, complete or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    target, partial = folder / RESULTS, folder / f"{RESULTS}.partial"
    with partial.open("w") as file:
        json.dump(content, file, indent=1, allow_nan=False)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(target)
    return target
