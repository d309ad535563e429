"""Brings what an instance stored in format 1, when state did not tell its format yet, into today's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from common.files import locked
from common.settings import Settings
from deploy.local import instances, state
from ingest import manifest
from ingest.manifest import Manifest


def migrate(wished: Settings) -> str | None:
    """What was done, as a line for the user; None if there was nothing to do. Nothing of the instance may run.

    Manifests are written anew. The state of *trending* is given up: without a checkpoint it counts the stream from its
    head, and as readers keep the maximum of each count, the rankings come out as they were, or where the former
    version had lost its place. Everything else is read as it is.

    The file that tells the format comes last: killed at any time, this is done again at the next start. Raises
    StateRefused while a source of the former version goes on.
    """
    if not state.is_of_format_1(wished):
        return None
    paths = sorted(manifest.runs_dir(wished).glob("*.jsonl"))
    for path in paths:  # before the first one is written anew
        with unheld(path):
            pass
    written = [path.stem for path in paths if write_anew(path)]
    with suppress(FileNotFoundError):
        shutil.rmtree(wished.checkpoint_dir / "trending")
    known = made_with(wished)
    state.record(wished.model_copy(update=known))
    return (f"brought what is stored from format 1 to {state.FORMAT}: {len(written)} manifests are written anew, "
            f"and hashtags are counted from the head of their stream{assumed(wished, known)}")


def write_anew(path: Path) -> bool:
    """Whether the manifest was of format 1, and now is of today's. Raises StateRefused if its run goes on."""
    with unheld(path):
        if manifest.read_manifest(path) or not (found := of_format_1(path.read_bytes())):
            return False
        manifest.write(path, found, path.stat().st_mtime_ns)  # tells the audit which runs a restart of Spark has met
        return True


@contextmanager
def unheld(path: Path) -> Iterator[None]:
    """Holds the manifest. Raises StateRefused if its run goes on."""
    try:
        with locked(path):
            yield
    except BlockingIOError:
        raise state.StateRefused(
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


def made_with(wished: Settings) -> dict[str, object]:
    """The fixed settings of the last start, if it is known and was on this middleware."""
    last = instances.stored(wished.instance_dir)
    if last.get("middleware") != wished.middleware:
        return {}
    return {name: last[name] for name in state.FIXED if name in last}


def assumed(wished: Settings, known: Collection[str]) -> str:
    """Says which fixed settings are recorded as they are now, since nobody knows what the state was made with."""
    named = ", ".join(name if name in state.SECRET else f"{name} {getattr(wished, name)}"
                      for name in state.FIXED if name not in known)
    return (f". The last start does not tell what this state was made with; it is taken for what is set now: {named}. "
            f"If that is wrong, write it as it was into {state.state_file(wished)}" if named else "")
