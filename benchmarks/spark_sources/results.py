"""What was measured, as a file and as tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Self

from common.storage import files

Figures = dict[str, dict[str, list[float]]]
"""By source and what was measured, a figure for each round."""

Cpu = dict[str, dict[str, list[dict[str, float]]]]
"""The same, CPU seconds per million events by process."""

LARGEST = 3
LEAST = 0.005
"""How many processes a table names, and how many seconds one of them has to take."""


class OtherSetting(Exception):
    """The folder holds figures that these cannot be set beside."""


@dataclass
class Results:
    file: Path
    setting: dict[str, Any]
    figures: Figures = field(default_factory=dict)
    cpu: Cpu = field(default_factory=dict)

    @classmethod
    def beside(cls, file: Path, setting: dict[str, Any]) -> Self:
        """Those that are to be added to what the file holds. Raises OtherSetting."""
        if not file.exists():
            return cls(file, setting)
        earlier = json.loads(file.read_text())
        if earlier["setting"] != setting:
            raise OtherSetting(f"{file} holds figures of another setting: {earlier['setting']}")
        return cls(file, setting, earlier["figures"], earlier["cpu_seconds_per_million_events"])

    def add(self, source: str, figures: dict[str, float], cpu: dict[str, float]) -> None:
        """Writes the file anew."""
        for what, figure in figures.items():
            self.figures.setdefault(source, {}).setdefault(what, []).append(figure)
        if cpu:
            used = {name: round(seconds, 3) for name, seconds in cpu.items()}
            self.cpu.setdefault(source, {}).setdefault(next(iter(figures)), []).append(used)
        files.replace(self.file, json.dumps({
            "setting": self.setting, "figures": self.figures, "cpu_seconds_per_million_events": self.cpu,
            "table": self.table(), "cpu_table": self.cpu_table(),
        }, indent=1) + "\n")

    def table(self) -> str:
        """Medians; `–` where a source does not have it."""
        return _table(self.figures, lambda found: f"{median(found):,.0f}")

    def cpu_table(self) -> str:
        """CPU seconds per million events, and the largest shares of it; the medians of each process by itself."""
        return _table(self.cpu, largest)


def largest(rounds: list[dict[str, float]]) -> str:
    names = {name for used in rounds for name in used}
    costs = {name: median(used.get(name, 0.0) for used in rounds) for name in names}
    first = sorted(costs.items(), key=lambda cost: -cost[1])[:LARGEST]
    total = median(sum(used.values()) for used in rounds)
    return f"{total:.2f}: " + ", ".join(f"{name} {seconds:.2f}" for name, seconds in first if seconds >= LEAST)


def _table(found: dict[str, dict[str, Any]], told: Any) -> str:
    lines = [f"| | {' | '.join(found)} |", "| --- " * (len(found) + 1) + "|"]
    for what in _in_order(found.values()):
        cells = (told(each[what]) if what in each else "–" for each in found.values())
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _in_order(measured: Iterable[dict[str, Any]]) -> list[str]:
    """What was measured of any; in the order of the one of which the most was."""
    longest = sorted(measured, key=len, reverse=True)
    return list(dict.fromkeys(what for each in longest for what in each))
