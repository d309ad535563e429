"""The servers of one store, for as long as they are measured."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from common.modules import Deploy
from common.settings import Settings
from deploy.local import instances

ROOT = Path(__file__).parents[2]
CLASS_DATA_SHARING = Deploy.CLASS_DATA_SHARING.value


class NotStarted(Exception):
    """The servers did not come up; the message is what `murmur` said."""


@contextmanager
def servers(middleware: str) -> Iterator[Settings]:
    """Begun from nothing, acknowledging what is on disk, and gone with their data at the end of the block."""
    instance = f"bench-{middleware}"
    try:
        down(instance)
        murmur("up", "--servers-only", "--middleware", middleware, "--durability", "fsync", "--instance", instance)
        settings = Settings.load(instance=instance)
        await_class_data(settings)
        yield settings
    finally:
        down(instance)


def await_class_data(settings: Settings) -> None:
    """Returns when no JVM writes its class data any more, as each does once at its first start in a checkout."""
    while any(CLASS_DATA_SHARING in words(process) for process in instances.leftovers(settings)):
        time.sleep(1)


def words(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def down(instance: str) -> None:
    murmur("down", "--wipe", "--yes", "--instance", instance)


def murmur(*words: str) -> None:
    done = subprocess.run([ROOT / "murmur", *words], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise NotStarted(f"murmur {' '.join(words)} ended with {done.returncode}:\n{done.stdout}")
