"""Why an experiment could not be made; the messages name the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import redis

from common.storage.files import last_lines


class DiskShort(Exception):
    """An experiment could fill the disk."""


class GeneratorFailed(Exception):
    """A generator process, or the users, ended by themselves, or did not start; the message holds the end of the log.
    """

    @classmethod
    def ended(cls, who: str, log: Path) -> Self:
        return cls("\n".join([f"{who} ended:", *last_lines(log, 5)]))


class StackBroken(Exception):
    """The stack does not do its work any more."""


class Busy(StackBroken):
    """Tweets that are not the experiment's are on their way, and would be taken for its own."""


BREAKING = (StackBroken, GeneratorFailed, redis.RedisError)
"""What leaves an experiment without a verdict: it is `broken`, and says nothing about its rate."""
