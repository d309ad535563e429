"""What Spark keeps on disk, for whoever asks: without Spark, which takes seconds to load."""

from __future__ import annotations

from pathlib import Path

from common.settings import Settings

BATCHES_KEPT = 20
"""Of how many micro-batches a checkpoint keeps the offsets, and the state as it was after each."""


def scratch_dir(settings: Settings, name: str) -> Path:
    """Where a local application keeps what it does not need after its end: shuffle files, copies of state and jars."""
    return settings.state_dir / "spark" / name
