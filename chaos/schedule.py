"""Which failures follow each other, by a seed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from chaos.failure import CACHE, Failure
from common.telemetry.failures import What

KINDS: tuple[What, ...] = ("kill", "pause", "slow")
WEIGHTS = (3, 1, 1)
"""Most are kills: of these most is promised."""

QUIET_S = (1.0, 4.0)
"""How long all is well between a failure and the next one, at least and at most."""

PAUSE_S, SLOW_S, SHARE = (2.0, 10.0), (5.0, 15.0), (0.1, 0.5)


@dataclass(frozen=True)
class Planned:
    """A failure, so many seconds after all have caught up from the one before."""

    after_s: float
    failure: Failure


def schedule(seed: int, names: Iterable[str]) -> Iterator[Planned]:
    """Failures without end, the same for the same seed and processes: in each round one of every process, in another
    order, and with them the loss of what Redis holds if that is among them. Raises ValueError for no processes."""
    random, processes = Random(seed), sorted(names)
    if not processes:
        raise ValueError("there are no processes")
    while True:
        failures = [_failure(random, name) for name in processes]
        if CACHE in processes:
            failures.append(Failure("flush-cache", CACHE))
        random.shuffle(failures)
        for failure in failures:
            yield Planned(_between(random, QUIET_S), failure)


def _failure(random: Random, name: str) -> Failure:
    (what,) = random.choices(KINDS, WEIGHTS)
    if what == "pause":
        return Failure(what, name, _between(random, PAUSE_S))
    if what == "slow":
        return Failure(what, name, _between(random, SLOW_S), _between(random, SHARE))
    return Failure(what, name)


def _between(random: Random, bounds: tuple[float, float]) -> float:
    return round(random.uniform(*bounds), 1)
