"""What a synthetic tweet says, apart from its id and date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol

Size = Literal["lean", "full"]
Workload = Literal["realistic", "cached"]

Content = tuple[str, bytes]
"""A tweet's author and all of its JSON that follows id and date."""

BEGINNING = b'{"data":{'
"""What stands before them."""


class Contents(Protocol):
    """A workload: what its tweets say is fixed by their number, and by what the workload was made with."""

    def from_number(self, number: int) -> Iterator[Content]:
        """The contents of tweet `number` and those that follow it, without end."""

    def ahead(self, number: int, count: int, folder: Path) -> Iterator[Content]:
        """The contents of tweet `number` and, about, the `count` from it on, made now: in turn, again and again."""
