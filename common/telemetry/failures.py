"""The failures that were provoked, in Redis: whoever provokes one tells of it, whoever wishes shows it."""

from __future__ import annotations

import json
from typing import Any, Literal

What = Literal["kill", "pause", "slow", "flush-cache", "fill-disk"]

FAILURES = "failures"
"""Key below the instance's prefix: a list of records as JSON (`chaos.record.Record`), the newest first."""


def read(client: Any, prefix: str) -> list[dict[str, Any]]:
    """The records, the newest first. `client`: a redis.Redis; raises its errors."""
    return [json.loads(record) for record in client.lrange(f"{prefix}{FAILURES}", 0, -1)]
