"""What a store holds and what it may hold: every store of an instance says it in this form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Held:
    """`holds` and `bound` are in `unit`; `oldest_at` is when the oldest entry was made, in seconds since the epoch.

    None where it cannot be known now; an empty store has no oldest entry either.
    """

    store: str
    holds: int | None
    bound: int | None
    unit: Literal["bytes", "rows"]
    oldest_at: float | None = None
