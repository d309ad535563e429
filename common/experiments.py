"""An instance is held by one experiment at a time: what others do to it meanwhile would be taken for its own. Each has
a folder of its own below `experiments_dir`, in which it says what it does, and in the end what came of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from common.settings import Settings
from common.storage import files

PROGRESS, RESULTS = "progress.json", "results.json"
"""What it does as long as it runs, and what came of it: names in the folder of an experiment."""

HELD = "lock"
"""Name of the file there that an experiment holds as long as it runs."""


def new_folder(settings: Settings) -> Path:
    """Name for the folder of an experiment that begins now."""
    return settings.experiments_dir / f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"


@contextmanager
def experimenting(settings: Settings, refusal: Exception | None = None) -> Iterator[None]:
    """Holds the instance alone. Raises as `files.locked` if another experiment runs on it, or somebody disturbs it."""
    with files.locked(_file(settings), os.O_CREAT, refusal=refusal):
        yield


@contextmanager
def disturbing(settings: Settings, refusal: Exception | None = None) -> Iterator[None]:
    """Keeps experiments from the instance, which several may do at once. Raises as `files.locked` if one runs on it."""
    with files.locked(_file(settings), os.O_CREAT, shared=True, refusal=refusal):
        yield


def is_running(settings: Settings) -> bool:
    """Whether an experiment holds the instance. Raises OSError."""
    try:
        return files.is_held(_file(settings), alone=True)
    except FileNotFoundError:  # there never was one
        return False


def _file(settings: Settings) -> Path:
    return settings.instance_dir / "experiment.lock"
