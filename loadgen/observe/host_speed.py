"""How fast the machine is just now: a fixed piece of work, timed before each experiment.

What a tweet costs depends on what others do on the same host, to its memory and caches above all, and a machine cannot
see them. The work is lookups in random order in a table larger than caches are, by one core, of plain Python: half of
it waits for memory, as the stack does.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from statistics import median

ENTRIES, LOOKUPS, ROUNDS = 500_000, 100_000, 25

QUIET_SPREAD = 1.1
"""Experiments whose machine differed by more than this, slowest to fastest, cannot be expected to agree within 10 %."""


def reference_ms() -> float:
    """Milliseconds that the work takes, the median of some rounds; a second or two, all told."""
    keys = list(range(ENTRIES))
    random.Random(1).shuffle(keys)  # in memory, too, neighbours are strangers then
    table = dict.fromkeys(keys, 1)
    starts = (n * LOOKUPS % ENTRIES for n in range(ROUNDS))
    return round(median(_round(table, keys[start : start + LOOKUPS]) for start in starts), 2)


def _round(table: dict[int, int], keys: Sequence[int]) -> float:
    began = time.perf_counter()
    found = 0
    for key in keys:
        found += table[key]
    assert found == len(keys)
    return (time.perf_counter() - began) * 1000


def is_quiet(measured: Sequence[float]) -> bool:
    """Whether the machine was equally fast before all experiments, by their `reference_ms`."""
    return not measured or max(measured) <= QUIET_SPREAD * min(measured)
