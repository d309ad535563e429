"""An audit as a process: `python -m audit.follow INSTANCE head|tail UNTIL`.

While the instance is up, servers that do not answer yet are waited for until UNTIL, in monotonic seconds. From the
head it audits all that there is, from the tail what is published from now on. It writes one line when it follows the
streams; then, for each line `{"runs": […] or null, "timeout": seconds}` that it reads, one line: `{"stages": …}`, or
`{"not_judged": reason}`. The latter is its only line, too, if it does not reach the servers.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, TypeVar, cast

import redis
from sqlalchemy.exc import SQLAlchemyError

from audit.bounded_reader import TooLate
from audit.collect import collecting
from audit.ledgers.run import Finding
from audit.sink_repeats import tolerate
from common.addresses import masked
from common.process import manager
from common.process.garbage_collection import collect_never
from common.settings import Settings
from ingest.manifest import Manifest, read_manifests, unreadable
from middleware.data import Start
from middleware.errors import MiddlewareError, StreamReplaced
from search.index import IndexDown

SETTLE_SECONDS = 2.0
"""Once nothing is missing, how long repeats are still waited for."""

PAUSE_SECONDS = 1.0

PASSING = (MiddlewareError, redis.RedisError, SQLAlchemyError, IndexDown, OSError)
"""A server does not answer now; it may later."""

T = TypeVar("T")
Round = Callable[[float], dict[str, Finding]]
"""Counts once, by a deadline in monotonic seconds, at which it raises TooLate."""


def main() -> None:
    collect_never()
    settings = Settings.load(instance=sys.argv[1])
    start, until = cast(Start, sys.argv[2]), float(sys.argv[3]) if is_up(settings) else 0.0
    try:
        with ExitStack() as stack:
            collector = tried(lambda: stack.enter_context(collecting(settings, start)), until)
            say({"following": settings.instance})
            for line in sys.stdin:
                request = json.loads(line)
                say(asked(settings, collector, request["runs"], time.monotonic() + request["timeout"]))
    except PASSING as error:
        say({"not_judged": reason(error)})


def is_up(settings: Settings) -> bool:
    """Whether somebody starts servers again that have died."""
    try:
        return manager.is_running(settings)
    except manager.NotAnswering:
        return True


def asked(settings: Settings, collector: Any, names: list[str] | None, until: float) -> dict[str, Any]:
    """The answer for these runs, or for all, as far as what they have published is known."""
    manifests = read_manifests(settings)
    if names is None and (paths := unreadable(settings, manifests)):
        return {"not_judged": f"the manifests of these runs cannot be read, so that nobody knows what they published: "
                              f"{', '.join(path.name for path in paths)}; `--run` audits another one"}
    return answer(settings, collector, {name: manifests[name] for name in names or manifests}, until)


def answer(settings: Settings, collector: Any, runs: Mapping[str, Manifest], until: float) -> dict[str, Any]:
    """What is acknowledged of the runs now, judged by the end of the time."""
    try:
        tried(lambda: collector.follow(runs), until)
        stages = complete(lambda until: tried(lambda: collector.round(until), until), until)
        stages["enriched"] = tolerate(settings, stages["enriched"], runs.values(), collector.repeated())
    except TooLate as error:
        return {"not_judged": str(error)}
    except PASSING as error:
        return {"not_judged": reason(error)}
    return {"stages": {name: finding.as_json() for name, finding in stages.items()}}


def tried(attempt: Callable[[], T], until: float) -> T:
    """Goes on after failures that pass, which take nothing from what was read; raises the last when time is over."""
    while True:
        try:
            return attempt()
        except PASSING as error:
            if isinstance(error, StreamReplaced) or time.monotonic() + PAUSE_SECONDS > until:
                raise
            print(f"trying again: {reason(error)}", file=sys.stderr)
            time.sleep(PAUSE_SECONDS)


def reason(error: Exception) -> str:
    return masked(f"{type(error).__name__}: {error}")


def complete(once: Round, until: float) -> dict[str, Finding]:
    """The findings once nothing is missing and time for repeats has passed, or the last before `until`.

    Raises TooLate, or what failed, where that ends a round, and something was missing in the one before.
    """
    clean_since: float | None = None
    while True:
        try:
            stages = once(until)
        except (TooLate, *PASSING):
            if clean_since is None:
                raise
            return stages
        ended = time.monotonic()
        missing = {name: finding.missing for name, finding in stages.items() if finding.missing}
        if missing:
            clean_since = None
            print(f"waiting for {', '.join(f'{count} {name}' for name, count in missing.items())}", file=sys.stderr)
        elif clean_since is None:
            clean_since = ended
        elif ended - clean_since >= SETTLE_SECONDS:
            return stages
        pause = PAUSE_SECONDS if missing else SETTLE_SECONDS
        if ended + pause > until:
            return stages
        time.sleep(pause)


def say(content: dict[str, Any]) -> None:
    print(json.dumps(content), flush=True)


if __name__ == "__main__":
    main()
