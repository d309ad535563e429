"""The ledger, in Redis: one process keeps it (audit/live), whoever wishes shows it.

Key `<prefix>ledger`: one JSON object, replaced every second. One that is older than FRESH_S tells nothing any more.
"""

from __future__ import annotations

import json
import time
from typing import Any, Literal, TypedDict, get_args

State = Literal["exact", "differs", "unknown", "off"]
"""`differs`: something is lost, or counted twice; `off`: an experiment runs, and is not to be disturbed."""

StageName = Literal["enriched", "ranked", "stored", "indexed"]
STAGES: tuple[StageName, ...] = get_args(StageName)

FRESH_S = 5.0


class Stage(TypedDict):
    """Of what was acknowledged: acknowledged = accounted + in_flight + lost, of each stage. None: unknown.

    `accounted`: it has passed the stage, or it is known why it never will. `twice`: what a user sees too often.
    `repeated`: events that came again, and are counted once.
    """

    name: StageName
    accounted: int | None
    in_flight: int | None
    lost: int | None
    twice: int | None
    repeated: int | None


class Ledger(TypedDict):
    """`as_of_us`, `since_us`: µs since the epoch; `since_us` is when the first run began of which it tells."""

    state: State
    as_of_us: int | None
    since_us: int | None
    acknowledged: int | None
    stages: list[Stage]
    rejected: int | None
    late: int | None
    aged_out: int | None


def unknown_stage(name: StageName) -> Stage:
    return {"name": name, "accounted": None, "in_flight": None, "lost": None, "twice": None, "repeated": None}


def unknown(state: State = "unknown", as_of_us: int | None = None) -> Ledger:
    return {
        "state": state, "as_of_us": as_of_us, "since_us": None, "acknowledged": None,
        "stages": [unknown_stage(name) for name in STAGES], "rejected": None, "late": None, "aged_out": None,
    }


def key(prefix: str) -> str:
    return f"{prefix}ledger"


def write(client: Any, prefix: str, ledger: Ledger) -> None:
    """`client`: a redis.Redis; raises its errors."""
    client.set(key(prefix), json.dumps(ledger))


def read(client: Any, prefix: str) -> Ledger:
    """Unknown where nobody has written it lately. `client`: a redis.Redis; raises its errors."""
    stored = client.get(key(prefix))
    if stored is None:
        return unknown()
    found: Ledger = json.loads(stored)
    return found if (found["as_of_us"] or 0) / 1e6 > time.time() - FRESH_S else unknown(as_of_us=found["as_of_us"])
