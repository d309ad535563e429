"""What the generator processes and the experiment tell each other: a small file, mapped into the memory of all.

Reading it needs nothing of the generator, so that one that is held in `send` is seen as it is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FIELDS = (
    # Told by the generator; times in µs since the epoch.
    "made_us", "ready", "beat_us", "taken", "acknowledged", "on_schedule", "blocked", "late", "sending", "cpu_us",
    # Told by the experiment: when the schedule begins and ends (0: not yet known), and whether to stop at once.
    "start_us", "end_us", "stop",
)


class SharedProgress:
    """One row of numbers for each generator process. A number is written by one side only."""

    def __init__(self, path: Path, processes: int, create: bool = False) -> None:
        self._rows = np.memmap(path, np.float64, "w+" if create else "r+", shape=(processes, len(FIELDS)))

    def tell(self, field: str, value: float, process: int | None = None) -> None:
        """Writes a number, for every process if none is given."""
        self._rows[slice(None) if process is None else process, FIELDS.index(field)] = value

    def told(self, field: str, process: int) -> int:
        return int(self._rows[process, FIELDS.index(field)])

    def sum(self, field: str) -> int:
        return int(self._rows[:, FIELDS.index(field)].sum())

    def all(self, field: str) -> bool:
        """Whether the number of every process is set."""
        return bool(self._rows[:, FIELDS.index(field)].all())
