"""What is counted of the events that *enrich* has decided over: pure, so that Spark's Python workers load it quickly.

Times are kept as the number of events by the instant of their `sent_at_us`, so that every event counts and a batch that
catches up with a million of them stays small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import orjson

from spark_jobs.accept_or_reject import Outcome

INSTANT_US = 10_000
"""Length of what counts as one moment."""


@dataclass
class Tally:
    """Counts of events, which add up."""

    counts: Counter[str] = field(default_factory=Counter)
    """rejected, rejected_REASON, late, unstamped (of unknown latency), and bytes: the sizes of the raw events."""

    instants: Counter[int] = field(default_factory=Counter)
    """Stamped events by `sent_at_us` // INSTANT_US."""

    newest: dict[str, int] = field(default_factory=dict)
    """The latest `sent_at_us` (µs) of all that completed *enriched* or was let through to a later stage."""

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], bytes: int) -> Tally:
        """What became of some events, and how large they were together."""
        rejected = [outcome.reason for outcome in outcomes if outcome.reason]
        sent = [outcome.sent_at_us for outcome in outcomes if outcome.sent_at_us is not None]
        tally = cls(Counter(f"rejected_{reason}" for reason in rejected), Counter(us // INSTANT_US for us in sent))
        tally.counts.update(
            rejected=len(rejected), late=sum(outcome.late for outcome in outcomes),
            unstamped=len(outcomes) - len(sent), bytes=bytes,
        )
        tally.reach("enriched", sent)
        passed_on = [(outcome.sent_at_us, outcome.late) for outcome in outcomes if not outcome.reason]
        tally.reach("searchable", (us for us, _ in passed_on if us is not None))
        tally.reach("ranked", (us for us, late in passed_on if us is not None and not late))
        return tally

    def reach(self, stage: str, sent_at_us: Iterable[int]) -> None:
        newest = max(sent_at_us, default=-1)
        if newest > self.newest.get(stage, -1):
            self.newest[stage] = newest

    def add(self, other: Tally) -> None:
        self.counts.update(other.counts)
        self.instants.update(other.instants)
        for stage, newest in other.newest.items():
            self.reach(stage, [newest])

    def to_json(self) -> str:
        content = {"counts": self.counts, "instants": list(self.instants.items()), "newest": self.newest}
        return orjson.dumps(content).decode()

    @classmethod
    def from_json(cls, content: str) -> Tally:
        read = orjson.loads(content)
        return cls(Counter(read["counts"]), Counter(dict(read["instants"])), read["newest"])
