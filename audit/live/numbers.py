"""Sequence numbers in blocks of bits, as search/accounts.py keeps them: how many of a run are there. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from search.accounts import BLOCK, BLOCK_BITS, COMPLETE, EMPTY, merged

Blocks = Mapping[int, bytes]
"""By number of the block, a bit for each of its numbers, or COMPLETE."""


class Numbers:
    """A growing set of numbers. One thread adds; others see whole blocks, as they are or as they were."""

    def __init__(self) -> None:
        self.blocks: dict[int, bytes] = {}
        self.size = 0

    def add(self, numbers: Collection[int]) -> None:
        array = np.fromiter(numbers, np.int64, len(numbers))
        of = array >> BLOCK_BITS
        for block in np.unique(of).tolist():
            places = array[of == block] & (BLOCK - 1)
            self.blocks[block], again = merged(self.blocks.get(block, EMPTY), places)
            self.size += len(places) - int(again.sum())


class Tally:
    """How many numbers of a run are in one of two growing sets, asked again and again: what has changed is counted."""

    def __init__(self) -> None:
        self._complete = 0
        """Blocks 0 to _complete - 1 are complete in both together."""

        self._counted: dict[int, tuple[bytes | None, bytes | None, int]] = {}
        """By block, what was counted of either set, and how many that are."""

    def below(self, end: int, whole: int, one: Blocks, other: Blocks) -> int:
        """How many numbers there are below `end`; all of the first `whole` blocks are."""
        last, rest = divmod(end, BLOCK)
        before = self._complete
        self._complete = max(before, whole)
        while self._complete < last and self._of(self._complete, one, other) == BLOCK:
            self._complete += 1
        if self._complete > before:
            self._counted = {block: known for block, known in self._counted.items() if block >= self._complete}
        if last < self._complete:
            return end
        found = self._complete * BLOCK + sum(self._of(block, one, other) for block in self._between(last, one, other))
        return found + (_count((one.get(last), other.get(last)), rest) if rest else 0)

    def _between(self, last: int, one: Blocks, other: Blocks) -> Iterable[int]:
        """Blocks up to that one, without it, that are there and not known to be complete."""
        if last - self._complete <= len(one) + len(other):
            return range(self._complete, last)
        return [block for block in {*list(one), *list(other)} if self._complete <= block < last]

    def _of(self, block: int, one: Blocks, other: Blocks) -> int:
        bits = one.get(block), other.get(block)
        if (known := self._counted.get(block)) and known[0] is bits[0] and known[1] is bits[1]:
            return known[2]
        count = _count(bits, BLOCK)
        self._counted[block] = *bits, count
        return count


def _count(bits: Iterable[bytes | None], size: int) -> int:
    """Of the first `size` numbers of a block; None: a set has nothing of it."""
    there = [each for each in bits if each is not None]
    if COMPLETE in there:
        return size
    if not there:
        return 0
    united = np.bitwise_or.reduce([np.frombuffer(each, np.uint8) for each in there])
    return int(np.unpackbits(united, count=size, bitorder="little").sum())
