"""An instance is held by one experiment at a time: what others do to it meanwhile would be taken for its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.settings import Settings
from common.storage import files


@contextmanager
def experimenting(settings: Settings) -> Iterator[None]:
    """Holds the instance. Raises BlockingIOError if another process does."""
    with files.locked(_file(settings), os.O_CREAT):
        yield


def is_experimented_on(settings: Settings) -> bool:
    path = _file(settings)
    return path.exists() and files.is_held(path)


def _file(settings: Settings) -> Path:
    return settings.instance_dir / "experiment.lock"
