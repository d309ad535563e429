"""The failures that were provoked: the newest in Redis, and those of which it could not be told in `chaos.log`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import redis

from chaos.connection import connected
from common.settings import Settings
from common.storage import files
from common.telemetry.failures import FAILURES, What

KEPT = 100


@dataclass(frozen=True)
class Record:
    """A failure. Times in µs since the epoch, None where the kind has none or it is not known.

    `until_us` is the end of what lasts. `back_after_s` is when the process did its work again, and `caught_up_after_s`
    when all stages had caught up: seconds from the beginning, or of what lasts from its end.
    """

    at_us: int
    what: What
    name: str
    pid: int | None
    until_us: int | None = None
    back_after_s: float | None = None
    caught_up_after_s: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Without what is not known."""
        return {name: value for name, value in asdict(self).items() if value is not None or name == "pid"}

    def __str__(self) -> str:
        return json.dumps(self.as_json())


def log_file(settings: Settings) -> Path:
    return settings.log_dir / "chaos.log"


def keep(settings: Settings, record: Record, instead_of: Record | None = None) -> None:
    """Adds a record, or more that is known of one."""
    key = f"{settings.redis_prefix}{FAILURES}"
    try:
        with connected(settings) as client:
            pipe = client.pipeline()
            if instead_of:
                pipe.lrem(key, 1, str(instead_of))
            pipe.lpush(key, str(record))
            pipe.ltrim(key, 0, KEPT - 1)
            pipe.execute()
    except redis.RedisError:
        with files.log_file(log_file(settings), settings.log_max_bytes) as log:
            log.write(f"{record}\n".encode())
