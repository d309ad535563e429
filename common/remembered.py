"""Results of functions of a text, remembered within bounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")

LONGEST = 256
"""A text from outside may be as long as an event: thousands of such must not be kept."""


def remembered(size: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Decorator: keeps the last `size` results, of texts up to LONGEST characters. What was raised is not kept."""

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        kept = lru_cache(maxsize=size)(function)

        @wraps(function)
        def call(text: str) -> T:
            return kept(text) if len(text) <= LONGEST else function(text)

        return call

    return decorate
