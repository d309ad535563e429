"""Open-loop schedule: when events are meant to be sent, whatever happens to those before them. Pure."""

from __future__ import annotations


class Pacer:
    """The n-th event is meant for `start_us + n / rate`; without a rate, for the moment at which it is asked for.

    A schedule never slips: when the publisher is blocked, the events of that time become due all the same.
    """

    def __init__(self, rate: float | None, start_us: int) -> None:
        if rate is not None and rate <= 0:
            raise ValueError("a rate is above 0 events per second")
        self._rate = rate
        self._start_us = start_us
        self._taken = 0

    def due(self, now_us: int, at_most: int) -> list[int]:
        """Times (µs) of the next events that are due, at most so many."""
        if self._rate is None:
            return [now_us] * at_most
        passed = now_us - self._start_us
        if passed < 0:
            return []
        count = min(int(passed * self._rate // 1_000_000) + 1 - self._taken, at_most)
        step, first = 1_000_000 / self._rate, self._taken
        return [self._start_us + int((first + n) * step) for n in range(count)]

    def scheduled_before(self, at_us: int) -> int:
        """How many events are meant for times before `at_us`. Raises ValueError without a rate."""
        if self._rate is None:
            raise ValueError("without a rate nothing is scheduled")
        passed = at_us - self._start_us
        if passed <= 0:
            return 0
        count = int(passed * self._rate / 1_000_000)
        return count + (self._start_us + int(count * (1_000_000 / self._rate)) < at_us)

    def took(self, count: int) -> None:
        """That many of the events due were taken."""
        self._taken += count

    def behind_us(self, now_us: int) -> int:
        """How long ago the next event was due; 0 when on schedule, and always without a rate."""
        if self._rate is None:
            return 0
        return max(0, now_us - self._start_us - int(self._taken * 1_000_000 / self._rate))
