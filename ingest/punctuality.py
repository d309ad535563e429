"""How punctually events are taken, and whether it is the publisher that holds them up or the generator. Pure."""

from __future__ import annotations

from collections.abc import Sequence

ON_SCHEDULE_US = 500_000
"""An event that is taken at most so long after the time for which it was scheduled is on schedule."""


def held_us(wall_us: int, own_cpu_us: int, slept_us: int, sending_us: int) -> int:
    """For how long, of `wall_us`, the thread that takes events could not run because a `send` was going on.

    Waiting for a full queue counts, and so does waiting for the interpreter, which some clients hold while they wait
    for their server; neither its own work nor a pause that it wanted does.
    """
    return max(0, min(sending_us, wall_us - own_cpu_us - slept_us))


class Punctuality:
    """Counts events as `on_schedule`, `blocked` (late, but would not be without being held) or `late`."""

    def __init__(self) -> None:
        self.on_schedule = self.blocked = self.late = 0
        self._owed_us = 0

    def took(self, due_us: Sequence[int], now_us: int, held_us: int) -> None:
        """Events due at these times, in order, are taken now; the taking was held for so long since the last call.

        What was held stays the reason for lateness until the schedule is caught up with.
        """
        oldest_us = now_us - due_us[0] if due_us else 0
        self._owed_us = min(self._owed_us + held_us, oldest_us)
        if oldest_us <= ON_SCHEDULE_US:
            self.on_schedule += len(due_us)
            return
        for due in due_us:
            behind = now_us - due
            if behind <= ON_SCHEDULE_US:
                self.on_schedule += 1
            elif behind - self._owed_us <= ON_SCHEDULE_US:
                self.blocked += 1
            else:
                self.late += 1
