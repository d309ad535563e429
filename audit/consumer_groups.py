"""The consumer groups of audits: `<state_dir>/.audits` names those that exist, by files that are locked while in use.

A stream store keeps the group of an audit that was killed for ever, and not every one can list its groups.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from common.settings import Settings
from common.storage.files import locked
from common.tweets import STREAMS
from middleware.admin import Admin
from middleware.driver import Middleware
from middleware.errors import MiddlewareError, Unreachable

MOST_REMOVED = 8
"""Of the groups that others left, how many an audit removes: it takes a while where the servers still hold members."""


def folder(settings: Settings) -> Path:
    return settings.state_dir / ".audits"


@contextmanager
def own_group(middleware: Middleware) -> Iterator[str]:
    """Name of a group that no other has; on no stream it outlives this, nor do those of audits that are gone.

    Where it could not be removed, a later audit does it.
    """
    noted = folder(middleware.settings)
    noted.mkdir(parents=True, exist_ok=True)
    path = noted / f"audit-{uuid.uuid4().hex[:12]}"
    unlocked = noted / f"new-{path.name}"
    with locked(unlocked, os.O_CREAT | os.O_EXCL):
        unlocked.rename(path)  # nobody finds it without its lock
        try:
            yield path.name
        finally:
            answered = _remove(middleware.admin, path)
    if answered:
        _remove_others(middleware.admin, path)


def _remove_others(admin: Admin, own: Path) -> None:
    for left in islice(set(own.parent.glob("audit-*")) - {own}, MOST_REMOVED):
        with suppress(BlockingIOError, FileNotFoundError), locked(left):  # it is alive; another removes it
            if not _remove(admin, left):
                return


def _remove(admin: Admin, noted: Path) -> bool:
    """Whether the servers answered; the group stays noted until every stream has let go of it."""
    kept = False
    for stream in STREAMS:
        try:
            admin.forget_group(stream, noted.name)
        except Unreachable:  # as it would be for the others, each after a while
            return False
        except MiddlewareError:
            kept = True
    if not kept:
        noted.unlink()
    return True
