"""Stamps: files that say that something was done once for all."""

from __future__ import annotations

import os
from pathlib import Path


def write_stamp(stamp: Path, content: str) -> None:
    """On disk before it is relied upon."""
    with stamp.open("w") as file:
        file.write(f"{content}\n")
        os.fsync(file.fileno())
    folder = os.open(stamp.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
