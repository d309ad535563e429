"""When a disk counts as full for a server that then only reads."""

from __future__ import annotations

ROOM, ROOM_BYTES = 0.02, 1 << 30
"""What must be left: a share of the disk, of which more than so many bytes are not asked for."""


def room(total_bytes: int) -> int:
    """Bytes that are left when a disk of this size counts as full."""
    return min(round(ROOM * total_bytes), ROOM_BYTES)


def full_share(total_bytes: int) -> float:
    """Used share from which on a disk of this size counts as full."""
    return 1 - room(total_bytes) / total_bytes
