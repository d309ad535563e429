"""A time as an option: `90`, `90s` or `2m`."""

from __future__ import annotations

import re
from typing import Any

import click

UNITS = {"": 1, "s": 1, "m": 60}


class Seconds(click.ParamType[float]):
    """In seconds, more than 0 and at most `most`."""

    name = "time"

    def __init__(self, most: float) -> None:
        self._most = most

    def convert(self, value: Any, option: click.Parameter | None, context: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([sm]?)", str(value))
        if not found:
            self.fail(f"{value!r} is no time: 90, 90s and 2m are", option, context)
        seconds = float(found[1]) * UNITS[found[2]]
        if not 0 < seconds <= self._most:
            self.fail(f"{value} is not within 0 to {self._most:.0f} s", option, context)
        return seconds
