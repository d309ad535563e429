"""What is done to a process for a while, and how it is undone, whoever has died meanwhile.

Each is held by a guard of its own (guard.py), which undoes it when its time is over or its command is gone. A file in
the instance's folder tells what is done as long as it is, and the guard holds that: one that is not empty and that
nobody holds is left of a guard that was killed, and is undone by whoever finds it.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Self

from chaos import disk
from common.process.identity import Identity, groups_of_session
from common.storage import files

STEP_S = 0.1
"""In each of which a slowed process has its share."""

HasEnded = Callable[[float], bool]
"""Waits for so many seconds, and tells whether the lease is to end before its time; then it returns at once."""


@dataclass(frozen=True)
class Lease:
    """`process` leads a session of its own, as all do that the process manager starts: what it has started pauses with
    it. It has `share` of the time, which is 0 for a pause. `folder` is the one whose disk is filled."""

    what: Literal["pause", "slow", "fill-disk"]
    name: str
    process: Identity
    seconds: float
    share: float = 0.0
    folder: str = ""

    @classmethod
    def parsed(cls, text: str) -> Self:
        """Raises ValueError."""
        told = json.loads(text)
        try:
            return cls(**{**told, "process": Identity(*told["process"])})
        except (TypeError, KeyError) as error:
            raise ValueError(f"no lease: {text}") from error

    def __str__(self) -> str:
        return json.dumps(asdict(self))

    def run(self, has_ended: HasEnded) -> None:
        """Does it for its time; whatever ends that, it is to be undone then."""
        if self.folder:
            self._fill(has_ended)
        else:
            self._hold_back(has_ended)

    def undo(self) -> None:
        """May be called at any time, again and again."""
        if self.folder:
            self._filling.unlink(missing_ok=True)
        else:
            self._signal(signal.SIGCONT)

    @property
    def _filling(self) -> Path:
        return disk.filling(Path(self.folder), self.name)

    def _hold_back(self, has_ended: HasEnded) -> None:
        until = time.monotonic() + self.seconds
        while self.process.is_running() and (left := until - time.monotonic()) > 0:
            self._signal(signal.SIGSTOP)
            if has_ended(min(left, (1 - self.share) * STEP_S)):
                return
            if self.share:
                self._signal(signal.SIGCONT)
                if has_ended(self.share * STEP_S):
                    return

    def _fill(self, has_ended: HasEnded) -> None:
        until = time.monotonic() + self.seconds
        disk.fill(self._filling, lambda: has_ended(0) or time.monotonic() > until)
        has_ended(max(0.0, until - time.monotonic()))

    def _signal(self, number: signal.Signals) -> None:
        """To all of its session, in which Spark's workers have a process group of their own. A session may outlive its
        leader: as long as it is there, no other process is given its id."""
        if Identity.of(self.process.pid) in (self.process, None):
            for group in groups_of_session(self.process.pid):
                with suppress(ProcessLookupError):
                    os.killpg(group, number)


def lease_file(instance_dir: Path, name: str) -> Path:
    """Stays, empty, when the lease has ended: a file that goes could be held by two."""
    return _folder(instance_dir) / f"{name}.lease"


@contextmanager
def registered(path: Path, lease: Lease) -> Iterator[None]:
    """Tells during the block what is done, and undoes it at its end. Raises BlockingIOError if something is already
    done to that process."""
    path.parent.mkdir(exist_ok=True)
    with files.locked(path, os.O_CREAT):
        _undo(path)
        path.write_text(str(lease))
        try:
            yield
        finally:
            _undo(path)


def read(path: Path) -> Lease | None:
    """None for a file that tells of none: one that was not written whole is of a lease that had not begun."""
    try:
        return Lease.parsed(path.read_text())
    except (FileNotFoundError, ValueError):
        return None


def undo_abandoned(instance_dir: Path) -> list[Lease]:
    """Undoes, and returns, what killed guards have left."""
    undone = []
    for path in sorted(_folder(instance_dir).glob("*.lease")):
        if read(path):
            with suppress(BlockingIOError), files.locked(path):  # else its guard is alive
                undone += _undo(path)
    return undone


def _folder(instance_dir: Path) -> Path:
    return instance_dir / "chaos"


def _undo(path: Path) -> list[Lease]:
    """What the file tells of, to be called by who holds that."""
    if not (lease := read(path)):
        return []
    lease.undo()
    os.truncate(path, 0)
    return [lease]
