"""The durability class in force, for those parts that must not know the middleware: told through Redis."""

from __future__ import annotations

from typing import cast, get_args

import redis

from common.settings import Durability

KEPT_S = 30
"""What nobody has confirmed for so long is unknown."""


def tell(client: redis.Redis, prefix: str, durability: Durability | None) -> None:
    """Passes on what the running middleware said. Raises RedisError."""
    if durability:
        client.set(f"{prefix}durability", durability, ex=KEPT_S)


def told(client: redis.Redis, prefix: str) -> Durability | None:
    """The class in force; None if unknown. Raises RedisError."""
    found = client.get(f"{prefix}durability")
    text = found.decode() if isinstance(found, bytes) else found
    return cast(Durability, text) if text in get_args(Durability) else None
