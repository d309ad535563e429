"""Failures that follow each other by a schedule, and what they came to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import redis

from chaos.failure import Failure, Refused
from chaos.provoke import Outcome, Tell, provoke
from chaos.record import Record
from chaos.recovery import Telemetry
from chaos.schedule import Planned
from common.process import manager
from common.settings import Settings
from common.telemetry.failures import What


@dataclass(frozen=True)
class NotProvoked:
    """A failure that was planned and did not begin."""

    failure: Failure
    why: str

    def as_json(self) -> dict[str, str]:
        return {"what": self.failure.what, "name": self.failure.name, "why": self.why}


@dataclass(frozen=True)
class Spread:
    """Seconds, of all for which they are known; None if of none."""

    p50: float | None
    max: float | None


@dataclass(frozen=True)
class Row:
    """What failures of one kind came to for a process."""

    name: str
    what: What
    times: int
    back_after_s: Spread
    caught_up_after_s: Spread


def run(settings: Settings, planned: Iterable[Planned], seconds: float, tell: Tell,
        ended: Callable[[Outcome | NotProvoked], None]) -> list[Outcome | NotProvoked]:
    """Begins failures for so many seconds, each once all have caught up from the one before; the last one's outcome
    tells if they have not, and then no other follows. One that cannot begin is left out: its process may be away.

    What all lag within as usual is measured once, before the first, or as soon as tweets come: later the last 30 s are
    never as usual.
    """
    telemetry = Telemetry(settings)
    limits = telemetry.await_usual()
    until = time.monotonic() + seconds
    found: list[Outcome | NotProvoked] = []
    for each in planned:
        if time.monotonic() + each.after_s > until:
            break
        time.sleep(each.after_s)
        limits = limits or telemetry.usual()
        try:
            outcome: Outcome | NotProvoked = provoke(settings, each.failure, limits, tell)
        except (Refused, manager.NotRunning, manager.NotAnswering, redis.RedisError) as error:
            outcome = NotProvoked(each.failure, str(error))
        found.append(outcome)
        ended(outcome)
        if isinstance(outcome, Outcome) and not outcome.has_recovered:
            break
    return found


def table(records: Sequence[Record]) -> list[Row]:
    """By process and kind, in the order of their names."""
    rows = []
    for name, what in sorted({(record.name, record.what) for record in records}):
        found = [record for record in records if (record.name, record.what) == (name, what)]
        rows.append(Row(name, what, len(found), spread(record.back_after_s for record in found),
                        spread(record.caught_up_after_s for record in found)))
    return rows


def spread(seconds: Iterable[float | None]) -> Spread:
    known = [each for each in seconds if each is not None]
    return Spread(round(median(known), 1), max(known)) if known else Spread(None, None)
