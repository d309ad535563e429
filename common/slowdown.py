"""A stage slowed on purpose, by the settings `slow_stage` and `slow_stage_us`: for tests of what measures it."""

from __future__ import annotations

import time

from common.settings import Settings


def delay_us(settings: Settings, stage: str) -> int:
    """µs by which each tweet is to be slowed at `stage`; 0 without the setting."""
    return settings.slow_stage_us if settings.slow_stage == stage else 0


def slow_down(delay_us: int, tweets: int) -> None:
    """Returns after `tweets` times `delay_us`, without using the CPU."""
    if delay_us and tweets:
        time.sleep(delay_us * tweets / 1e6)
