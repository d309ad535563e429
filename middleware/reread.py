"""Reads a stream once more beside the groups that share it, to its end."""

from __future__ import annotations

import time
import uuid
from collections.abc import Generator

from middleware.data import Position
from middleware.driver import Middleware
from middleware.errors import Unreachable

POLL_EVENTS, POLL_S = 10_000, 1.0
SILENCE_S = 30.0
"""So long without an event before the end is no answer: the stream store is given up."""


def reread(
    middleware: Middleware, stream: str, after: Position | None = None
) -> Generator[list[bytes], None, None]:
    """All events that the stream holds when this begins, behind `after` if it still has that place.

    To be closed; raises MiddlewareError.

    Overtaken is among it: retention removed events meanwhile, and whoever needs all of them begins anew.
    """
    group, end = f"reread-{uuid.uuid4().hex[:12]}", middleware.data.end(stream)
    try:
        middleware.begin_at(stream, group, after)
        with middleware.data.consumer(stream, group) as consumer:
            heard = time.monotonic()
            while not consumer.has_reached(end):
                if events := consumer.poll(POLL_EVENTS, POLL_S):
                    heard = time.monotonic()
                    yield events
                elif time.monotonic() - heard > SILENCE_S:
                    raise Unreachable(f"{stream}: nothing came for {SILENCE_S:.0f} s, before its end")
    finally:
        middleware.admin.forget_group(stream, group)
