"""Warming up, once per stack: which start of it was warmed up is remembered in a file."""

from __future__ import annotations

import json

import psutil

from cli.load.instance import Instance
from loadgen.experiment import Watch, warm_up

HIGHEST_RATE = 500.0
"""Enough to compile everything; an overload would have to drain."""


def ensure_warm(instance: Instance, rate: float, seconds: float, watch: Watch) -> None:
    """Warms up, unless the same processes were warmed up before, or `seconds` is 0."""
    path = instance.settings.state_dir / "load" / "warm.json"
    current = {name: [pid, psutil.Process(pid).create_time()] for name, pid in instance.processes().items()}
    try:
        if json.loads(path.read_text()) == current:
            return
    except (OSError, ValueError):
        pass
    if seconds:
        warm_up(instance, min(rate, HIGHEST_RATE), seconds, watch)
        path.write_text(json.dumps(current))
