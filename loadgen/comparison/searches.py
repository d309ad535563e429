"""Which searches a comparison is made of, and in which order. Pure.

Every second round goes through the middlewares in reverse order, so that a drift of the host does not always hit the
same one. After the rounds of the main comparison comes one of each side comparison, which has one thing otherwise and
is ranked by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from common.settings import Durability
from ingest.sources.content import Size, Workload

SIDES: Mapping[str, tuple[str, ...]] = {
    "durability": get_args(Durability), "payload": get_args(Size), "workload": get_args(Workload),
}
"""What a side comparison may have otherwise, and as what."""


class MixedDurability(Exception):
    """A ranking across durability classes was not asked for."""


class Variant(NamedTuple):
    """What is compared."""

    middleware: str
    durability: str

    def __str__(self) -> str:
        return f"{self.middleware} ({self.durability})"


class Side(NamedTuple):
    """The one thing that a side comparison has otherwise than the main one."""

    what: str
    value: str

    def __str__(self) -> str:
        return f"{self.what}={self.value}"

    @classmethod
    def of(cls, text: str) -> Side:
        """Raises ValueError for a text that is none."""
        what, _, value = text.partition("=")
        if value not in SIDES.get(what, ()):
            raise ValueError(f"{text}: choose of {', '.join(f'{k}={v}' for k, of in SIDES.items() for v in of)}")
        return cls(what, value)

    def variants(self, main: Sequence[Variant]) -> list[Variant]:
        """Those of the side comparison, given the ones of the main comparison."""
        if self.what != "durability":
            return list(main)
        return list(dict.fromkeys(variant._replace(durability=self.value) for variant in main))


class Search(NamedTuple):
    """One search, by what it is known again. `round` counts from 1; `side` is the text of a Side, "" for none."""

    round: int
    variant: Variant
    side: str = ""

    def __str__(self) -> str:
        return f"{self.variant}, round {self.round}" + (f", aside with {self.side}" if self.side else "")

    @classmethod
    def made(cls, run: Mapping[str, Any]) -> Search:
        """That of a result. Raises KeyError or TypeError for what is none."""
        return cls(int(run["round"]), Variant(str(run["middleware"]), str(run["durability"])), str(run["side"]))

    @property
    def folder(self) -> Path:
        """Within that of the comparison."""
        own = f"{self.variant.middleware}-{self.variant.durability}-{self.round}"
        return Path(f"side-{self.side.replace('=', '-')}") / own if self.side else Path(own)


def variants(middlewares: Sequence[str], durabilities: Sequence[str], across: bool) -> list[Variant]:
    """All combinations, each once. Raises MixedDurability for several classes unless `across`."""
    classes = list(dict.fromkeys(durabilities))
    if len(classes) > 1 and not across:
        raise MixedDurability(
            f"an acknowledgement means something else in {' and in '.join(classes)}: a ranking across them compares "
            "unlike things; compare within one class, or ask for it with --across-durabilities"
        )
    return [Variant(m, d) for d in classes for m in dict.fromkeys(middlewares)]


def order(main: Sequence[Variant], repeat: int, sides: Sequence[Side] = ()) -> Iterator[Search]:
    """All searches, there and back again: `repeat` rounds of the main comparison, one of each side comparison."""
    rounds = [(n, "", list(main)) for n in range(1, repeat + 1)]
    rounds += [(1, str(side), side.variants(main)) for side in sides]
    for n, (number, side, of) in enumerate(rounds):
        for variant in reversed(of) if n % 2 else of:
            yield Search(number, variant, side)
