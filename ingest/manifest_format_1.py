"""Manifests of format 1, when state did not tell its format yet, are written anew as of today's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from common.settings import Settings
from common.storage.files import locked
from ingest import manifest
from ingest.manifest import Manifest


class RunGoesOn(Exception):
    """A source of a former version still writes the manifest; the message names the way out."""


def renew(settings: Settings) -> int:
    """How many were written anew. Raises RunGoesOn before any is."""
    paths = sorted(manifest.runs_dir(settings).glob("*.jsonl"))
    for path in paths:
        with unheld(path):
            pass
    return sum(write_anew(path) for path in paths)


def write_anew(path: Path) -> bool:
    """Whether the manifest was of format 1, and now is of today's. Raises RunGoesOn."""
    with unheld(path):
        if manifest.read_manifest(path) or not (found := of_format_1(path.read_bytes())):
            return False
        manifest.write(path, found, path.stat().st_mtime_ns)  # tells the audit which runs a restart of Spark has met
        return True


@contextmanager
def unheld(path: Path) -> Iterator[None]:
    """Holds the manifest. Raises RunGoesOn."""
    try:
        with locked(path):
            yield
    except BlockingIOError:
        raise RunGoesOn(
            f"run {path.stem} goes on, by a source that was started with a former version: end it, and start again"
        ) from None


def of_format_1(content: bytes) -> Manifest | None:
    """From the line that tells of the run, and one for each change of its counts; None if the first is not whole.

    Any line may have been cut off by the end of its ingester.
    """
    found: Manifest | None = None
    for line in content.splitlines():
        with suppress(ValueError, TypeError):
            record = json.loads(line)
            if found is None:
                found = Manifest(**record)
            for name in ("archived", "acknowledged", "finished", "total"):
                setattr(found, name, record.get(name, getattr(found, name)))
    return found
