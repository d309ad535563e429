"""What a process of an instance is: how it is started, in which order, and how to tell that it does its work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from common import modules
from common.process.child import python
from common.settings import MiddlewarePort, Port

READERS = 4
"""Stage of the processes that read streams."""

Probe = Callable[[float], bool]
"""Does a real round trip: True when the process, started at the given time (seconds since the epoch), does its work.

What it raises counts as "not yet".
"""


@dataclass(frozen=True)
class Process:
    """One supervised process. Those of a lower `stage` start earlier and stop later; `stop_seconds` is its share of the
    time in which the whole instance ends.

    One that takes long before it needs the servers starts beside them: `early`. One that answers users is `foreground`:
    when the cores are busy its turn comes before that of all others. It `listens` at these ports, of which the second
    number tells one of several copies. In a container it has `memory_mib` at most. Of the servers with the same
    `copy_of` one may be away: the others do its work. What it stores itself lies in the folder `data`.
    """

    name: str
    command: tuple[str, ...]
    stage: int
    ready: Probe
    ready_seconds: int = 120
    stop_seconds: float = 0.5
    early: bool = False
    foreground: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    listens: tuple[tuple[Port | MiddlewarePort, int], ...] = ()
    memory_mib: int = 512
    copy_of: str = ""
    data: Path | None = None


def background(command: Sequence[str]) -> tuple[str, ...]:
    """The command, with less of the cores than what is in the foreground as long as that needs them."""
    return (str(Path(__file__).with_name("background")), *command)


def after(addresses: Sequence[str], command: Sequence[str]) -> tuple[str, ...]:
    """The command, started once something listens at each of these, which are HOST:PORT, or several with commas between
    of which one is enough."""
    return python(modules.Deploy.START_AFTER, *addresses, "--", *command)
