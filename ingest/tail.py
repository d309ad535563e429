"""Where a source goes on that was left: behind what its runs have archived last."""

from __future__ import annotations

from collections import deque

from common.settings import Settings
from ingest.archive import files
from ingest.manifest import Manifest, read_manifests
from ingest.sources.base import Payload


def tail(settings: Settings, source: str, at_most: int) -> list[Payload]:
    """The last payloads with a position that the runs of a source archived, in order; of those that are still there."""
    found: list[Payload] = []
    for run in reversed(read_manifests(settings).values()):
        if run.source == source and len(found) < at_most:
            wanted = at_most - len(found)
            found = [*_of_run(settings, run, wanted), *found]
    return found


def last_run_us(settings: Settings, source: str) -> int | None:
    """When the newest run of a source that published anything did so for the last time; None if there is none."""
    return max((run.changed_at_us for run in read_manifests(settings).values()
                if run.source == source and run.acknowledged), default=None)


def _of_run(settings: Settings, run: Manifest, wanted: int) -> deque[Payload]:
    while True:
        archived = files.read(settings, run.run, max(0, run.archived - wanted))
        try:
            return deque((entry.payload for entry in archived if entry.payload.position), maxlen=wanted)
        except FileNotFoundError:
            continue  # a file was compressed or removed after it was listed: they are listed anew
