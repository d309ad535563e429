"""Sequence numbers in blocks of bits, as search/accounts.py keeps them: how many of a run are there. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

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


def count(end: int, whole: int, *sets: Blocks) -> int:
    """How many numbers below `end` are in any of the sets; all of the first `whole` blocks are."""
    found = min(whole * BLOCK, end)
    for block in {block for blocks in sets for block in list(blocks) if whole <= block}:
        size = min(BLOCK, end - block * BLOCK)
        if size > 0:
            found += _count([blocks[block] for blocks in sets if block in blocks], size)
    return found


def _count(bits: list[bytes], size: int) -> int:
    if COMPLETE in bits:
        return size
    united = np.bitwise_or.reduce([np.frombuffer(each, np.uint8) for each in bits])
    return int(np.unpackbits(united, count=size, bitorder="little").sum())
