"""How much of the retention each reader has used, in Redis: one process looks, whoever wishes shows it.

Hash `<prefix>retention`: reader → share of the bound of its stream that lies between it and the end, as a decimal. At 1
the next retention takes events that it has not read. What has not been written for EXPIRY_S is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from common.tweets import Reader

READERS: tuple[Reader, ...] = get_args(Reader)
EXPIRY_S = 60


def key(prefix: str) -> str:
    return f"{prefix}retention"


def write(client: Any, prefix: str, shares: Mapping[Reader, float]) -> None:
    """Replaces what was known: a reader that is left out is unknown. `client`: a redis.Redis; raises its errors."""
    with client.pipeline() as pipeline:
        pipeline.delete(key(prefix))
        if shares:
            pipeline.hset(key(prefix), mapping={reader: f"{share:.4f}" for reader, share in shares.items()})
            pipeline.expire(key(prefix), EXPIRY_S)
        pipeline.execute()


def read(client: Any, prefix: str) -> dict[Reader, float | None]:
    """Every reader; None where it is unknown. `client`: a redis.Redis that decodes; raises its errors."""
    found = client.hgetall(key(prefix))
    return {reader: float(found[reader]) if reader in found else None for reader in READERS}


def unknown() -> dict[Reader, float | None]:
    return dict.fromkeys(READERS)
