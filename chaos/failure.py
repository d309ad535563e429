"""What can be provoked."""

from __future__ import annotations

from dataclasses import dataclass

from common.telemetry.failures import What

LONGEST_S = 60.0
"""Of what lasts: nobody can forget it."""

CACHE = "redis"
"""The process whose content `flush-cache` takes."""


class Refused(Exception):
    """A failure that is not provoked; the message says why."""


class NotHeld(Exception):
    """What was to last has ended before its time; the message says why."""


@dataclass(frozen=True)
class Failure:
    """`seconds` is how long it lasts, at most LONGEST_S, and 0 for what only happens; `share` is the part of that time
    which a slowed process has."""

    what: What
    name: str
    seconds: float = 0.0
    share: float = 0.0
