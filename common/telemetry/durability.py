"""The durability class in force, for those parts that must not know the middleware: told through Redis."""

from __future__ import annotations

from typing import NamedTuple, cast, get_args

import redis

from common.settings import Durability

ASKED, CONFIGURED = "asked", "configured"
KEPT_S = 30
"""What nobody has confirmed for so long is unknown."""


class InForce(NamedTuple):
    """What an acknowledgement means, and whether the running server says so or its configuration; None if unknown."""

    durability: Durability | None
    asked: bool | None


UNKNOWN = InForce(None, None)


def tell(client: redis.Redis, prefix: str, durability: Durability | None, asked: bool) -> None:
    """Passes on what the middleware found; `asked`: of the running server. Raises RedisError."""
    if durability:
        client.set(f"{prefix}durability", f"{durability} {ASKED if asked else CONFIGURED}", ex=KEPT_S)


def told(client: redis.Redis, prefix: str) -> InForce:
    """Raises RedisError."""
    found = client.get(f"{prefix}durability") or ""
    text = found.decode() if isinstance(found, bytes) else found
    durability, _, how = text.partition(" ")
    return InForce(cast(Durability, durability), how == ASKED) if durability in get_args(Durability) else UNKNOWN
