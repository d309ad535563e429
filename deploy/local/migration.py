"""Brings what an instance stored in format 1, when state did not tell its format yet, into today's."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from contextlib import suppress

from common.settings import Settings
from deploy.local import instances, state


def migrate(wished: Settings, renew_manifests: Callable[[Settings], int]) -> str | None:
    """What was done, as a line for the user; None if there was nothing to do. Nothing of the instance may run.

    Manifests are written anew. The state of *trending* is given up: without a checkpoint it counts the stream from its
    head, and as readers keep the maximum of each count, the rankings come out as they were, or where the former
    version had lost its place. Everything else is read as it is.

    The file that tells the format comes last: killed at any time, this is done again at the next start.
    `renew_manifests` returns how many it has written anew (ingest/manifest_format_1.py); what it raises is raised.
    """
    if not state.is_of_format_1(wished):
        return None
    renewed = renew_manifests(wished)
    with suppress(FileNotFoundError):
        shutil.rmtree(wished.checkpoint_dir / "trending")
    known = made_with(wished)
    state.record(wished.model_copy(update=known))
    return (f"brought what is stored from format 1 to {state.FORMAT}: {renewed} manifests are written anew, "
            f"and hashtags are counted from the head of their stream{assumed(wished, known)}")


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
