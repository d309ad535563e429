"""When a disk counts as full for a server that then only reads."""

from __future__ import annotations

FULL, ROOM_BYTES = 0.98, 1 << 30
"""Used share; where the rest is more than this room, the room counts: 2 % of a terabyte are 20 GB."""


def full_share(total_bytes: int) -> float:
    """Used share from which on a disk of this size counts as full."""
    return max(FULL, 1 - ROOM_BYTES / total_bytes)
