"""What Spark tells of a micro-batch, as figures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

QUANTILES = [(n + 0.5) / 100 for n in range(100)]
"""Of each batch; together they stand for its events."""


def ended_ms(progress: dict[str, Any]) -> float:
    """When a batch ended, in ms since the epoch."""
    took_ms: float = progress["durationMs"]["triggerExecution"]
    return datetime.fromisoformat(progress["timestamp"]).timestamp() * 1000 + took_ms


def quantile(pairs: Sequence[tuple[float, float]], part: float) -> float:
    """Of (value, weight), sorted."""
    rest = part * sum(weight for _, weight in pairs)
    for value, weight in pairs:
        rest -= weight
        if rest <= 0:
            return value
    return pairs[-1][0]
