"""What may be done to which process, and why not."""

from __future__ import annotations

from typing import TypedDict, get_args

from chaos.failure import CACHE, Refused
from chaos.provoke import disk_of_its_own, names
from common.settings import Settings
from common.telemetry.failures import What

OWN = "control"
"""The process of this part, which would not see the end of what it does to itself."""

EXPERIMENT = "an experiment runs on this instance, and would take this for its own"


class Action(TypedDict):
    """`why_not` is null if it may be done."""

    kind: What
    process: str
    why_not: str | None


def possible(settings: Settings) -> list[Action]:
    """By process. Raises NotRunning, NotAnswering."""
    return [
        {"kind": kind, "process": name, "why_not": why_not(settings, kind, name)}
        for name in names(settings) for kind in get_args(What) if kind != "flush-cache" or name == CACHE
    ]


def why_not(settings: Settings, kind: What, name: str) -> str | None:
    if name == OWN:
        return f"the controls go with it: `murmur chaos {kind} {name}`"
    if kind == "fill-disk":
        try:
            disk_of_its_own(settings, name)
        except Refused as error:
            return str(error)
    return None
