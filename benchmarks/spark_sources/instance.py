"""The servers of one store, for as long as they are measured."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.settings import Settings

ROOT = Path(__file__).parents[2]


class NotStarted(Exception):
    """The servers did not come up; the message is what `murmur` said."""


@contextmanager
def servers(middleware: str) -> Iterator[Settings]:
    """Begun from nothing, acknowledging what is on disk, and gone with their data at the end of the block."""
    instance = f"bench-{middleware}"
    try:
        down(instance)
        murmur("up", "--servers-only", "--middleware", middleware, "--durability", "fsync", "--instance", instance)
        yield Settings.load(instance=instance)
    finally:
        down(instance)


def down(instance: str) -> None:
    murmur("down", "--wipe", "--yes", "--instance", instance)


def murmur(*words: str) -> None:
    done = subprocess.run([ROOT / "murmur", *words], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise NotStarted(f"murmur {' '.join(words)} ended with {done.returncode}:\n{done.stdout}")
