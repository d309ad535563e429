"""A set of sequence numbers that costs a bit each, and nothing where all of a block are there. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

BLOCK_BITS = 16
BLOCK = 1 << BLOCK_BITS


class Seqs:
    """Numbers from 0, added in any order; a run without gaps needs next to no memory however long it is."""

    def __init__(self) -> None:
        self._partial: dict[int, bytearray] = {}
        self._counts: dict[int, int] = {}
        self._full: set[int] = set()
        self._size = 0

    def add(self, seq: int) -> bool:
        """Whether it is new."""
        number, place = seq >> BLOCK_BITS, seq & (BLOCK - 1)
        if number in self._full:
            return False
        block = self._partial.get(number)
        if block is None:
            block = self._partial[number] = bytearray(BLOCK // 8)
            self._counts[number] = 0
        mask = 1 << (place & 7)
        if block[place >> 3] & mask:
            return False
        block[place >> 3] |= mask
        self._size += 1
        self._counts[number] += 1
        if self._counts[number] == BLOCK:
            del self._partial[number], self._counts[number]
            self._full.add(number)
        return True

    def add_all(self, seqs: np.ndarray) -> int:
        """How many of them are new."""
        before = self._size
        for seq in seqs.tolist():
            self.add(seq)
        return self._size - before

    def add_range(self, first: int, end: int) -> None:
        """Adds first ≤ seq < end, whole blocks at once."""
        while first < end:
            number, stop = first >> BLOCK_BITS, min(end, ((first >> BLOCK_BITS) + 1) << BLOCK_BITS)
            if stop - first == BLOCK:
                self._size += 0 if number in self._full else BLOCK - self._counts.pop(number, 0)
                self._partial.pop(number, None)
                self._full.add(number)
            else:
                for seq in range(first, stop):
                    self.add(seq)
            first = stop

    def __len__(self) -> int:
        return self._size

    def __contains__(self, seq: int) -> bool:
        number, place = seq >> BLOCK_BITS, seq & (BLOCK - 1)
        block = self._partial.get(number)
        return number in self._full or (block is not None and bool(block[place >> 3] & 1 << (place & 7)))

    def count(self, first: int, end: int) -> int:
        """How many there are with first ≤ seq < end."""
        return max(0, end - first) - sum(stop - start for start, stop in self.absent(first, end))

    def absent(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """The ranges, start ≤ seq < stop, of the numbers within first ≤ seq < end that are not there."""
        open_at = None
        for start, stop in self._absent_by_block(first, end):
            if open_at is None:
                open_at, reached = start, stop
            elif start == reached:
                reached = stop
            else:
                yield open_at, reached
                open_at, reached = start, stop
        if open_at is not None:
            yield open_at, reached

    def _absent_by_block(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        for number in range(first >> BLOCK_BITS, -(-end >> BLOCK_BITS) if end > first else 0):
            if number in self._full:
                continue
            begin = number << BLOCK_BITS
            start, stop = max(first, begin), min(end, begin + BLOCK)
            block = self._partial.get(number)
            if block is None:
                yield start, stop
                continue
            bits = np.unpackbits(np.frombuffer(block, np.uint8), bitorder="little")[start - begin : stop - begin]
            edges = np.flatnonzero(np.diff(np.concatenate(([1], bits, [1])).astype(np.int8)))
            for low, high in edges.reshape(-1, 2).tolist():
                yield start + low, start + high
