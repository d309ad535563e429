"""What a middleware raises; each message names the way out."""

from __future__ import annotations

from typing import Self


class MiddlewareError(Exception):
    """Base of what a middleware raises."""


class Unreachable(MiddlewareError):
    """The server did not answer in time."""


class UnknownStream(MiddlewareError):
    """The stream does not exist."""


class EventTooLarge(MiddlewareError, ValueError):
    """The event exceeds `max_event_bytes`; nothing of it was sent."""


class PublishFailed(MiddlewareError):
    """Events sent since the last successful flush may be lost: publish them again."""


class StreamReplaced(MiddlewareError):
    """The stream was deleted and made anew since the position was taken: the two cannot be compared."""

    @classmethod
    def of(cls, stream: str) -> Self:
        return cls(f"{stream} was deleted and made anew: what was read of the old one tells nothing")


class Overtaken(MiddlewareError):
    """Retention removed events that the group had not committed. Nobody goes on behind them silently.

    To try again does not help: `murmur accept-loss` tells what is gone and moves the group on.
    """

    @classmethod
    def at(cls, reader: str, partition: int, position: int, head: int, unit: str, count: str = "") -> Self:
        """`reader`: stream and group; `unit`: what an offset counts, or what `count` does where offsets have gaps."""
        return cls(
            f"{reader}: retention removed offsets {position} to {head - 1} of partition {partition} before they were "
            f"committed ({count or head - position} {unit}); `murmur accept-loss` tells what is gone and goes on "
            "behind it"
        )
