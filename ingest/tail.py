"""Where a source goes on that was left: behind what its runs have archived last."""

from __future__ import annotations

from collections import deque

from common.settings import Settings
from ingest import archive
from ingest.manifest import read_manifests
from ingest.sources.base import Payload


def tail(settings: Settings, source: str, at_most: int) -> list[Payload]:
    """The last payloads with a position that the runs of a source archived, in order; of those that are still there."""
    found: list[Payload] = []
    for run in reversed(read_manifests(settings).values()):
        if run.source == source and len(found) < at_most:
            wanted = at_most - len(found)
            archived = archive.read(settings, run.run, max(0, run.archived - wanted))
            of_run = deque((entry.payload for entry in archived if entry.payload.position), maxlen=wanted)
            found = [*of_run, *found]
    return found
