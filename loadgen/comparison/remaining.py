"""How long what is still to be searched will take. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

BESIDE_SECONDS = 150.0
"""Of a search beside its budget: start and removal of the instance. Until it is known better."""


class Remaining(NamedTuple):
    """Before a search: `number` of `of` searches, and the seconds that it and all after it will take."""

    number: int
    of: int
    seconds: float

    def text(self, now: datetime) -> str:
        """For people; `now` in the time of their clock."""
        end = now + timedelta(seconds=self.seconds)
        day = "" if end.date() == now.date() else f"{end:%a %d %b} "
        return f"search {self.number} of {self.of}; about {duration(self.seconds)} for all that remain, until {day}" \
               f"{end:%H:%M}"


def search_seconds(took: Sequence[float], budget_s: float) -> float:
    """What a search takes: the median of those that were made; the budget and what is beside it before."""
    return median(took) if took else budget_s + BESIDE_SECONDS


def duration(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
