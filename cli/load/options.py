"""Options that the load commands share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from loadgen.judge.rate_search import is_judged
from loadgen.single import SETTLE_SECONDS, WARM_UP_SECONDS

BROKEN = 3
"""Status of what could not be judged, as of `murmur audit`."""


def status(capacity: Mapping[str, Any]) -> int:
    """How a search ends that found this."""
    if not is_judged(capacity):
        return BROKEN
    return 0 if capacity["highest_pass"] else 1


def out(command: Any) -> Any:
    return click.option("--out", type=click.Path(path_type=Path, file_okay=False),
                        help="Folder for the result.  [default: one of its own, which the page lists]")(command)


def slo_ms(command: Any) -> Any:
    return click.option("--slo-ms", default=2000.0, show_default=True, type=click.FloatRange(min=1),
                        help="Objective for the p99 from intended send to ranked and to searchable, in ms.")(command)


def users(command: Any) -> Any:
    return click.option("--users", default=0, type=click.IntRange(min=0), help="Locust users beside the tweets, who "
                        "watch the ranking, listen to events and search.")(command)


def warm_up(command: Any) -> Any:
    return click.option("--warm-up", "warm_up_s", default=WARM_UP_SECONDS, show_default=True,
                        type=click.FloatRange(min=0),
                        help="Seconds of load before the first experiment on a stack that was just started.")(command)


def settle(command: Any) -> Any:
    return click.option("--settle", "settle_s", default=SETTLE_SECONDS, show_default=True, type=click.FloatRange(min=0),
                        help="Seconds at the rate before the interval that is judged; none before a burst.")(command)


def processes(command: Any) -> Any:
    return click.option("--processes", type=click.IntRange(1, 16), help="Generator processes.  "
                        "[default: one for each 20,000 tweets/s]")(command)
