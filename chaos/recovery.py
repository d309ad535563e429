"""When a process is back, and when all stages have caught up: by the telemetry that the page shows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

import redis

from chaos.connection import connected
from common.process import manager
from common.process.identity import is_group
from common.settings import Settings
from common.telemetry.reports import PUBLISHED, WRITE_SECONDS
from common.telemetry.stages import Stage, read_stages, readings
from deploy.local.processes.spec import Process
from deploy.local.processes.wait_ready import is_ready

POLL_S = 0.1
PATIENCE_S = 180.0
"""How long either is waited for."""

QUIET_S = 20.0
"""So long after a failure nothing may come yet: a source may have died with it, and be started again."""

USUAL_S = 5.0
"""How long it is asked what is usual."""

Limits = Mapping[str, float]
"""By stage, by how many seconds it lags as usual: the p95 of its latency over the last 30 s, and the age of a report.
"""


class CaughtUp(NamedTuple):
    """`at`, in seconds since the epoch: None if they have not. `flows`: whether tweets came at all."""

    at: float | None
    flows: bool


class Telemetry:
    """What the stages of an instance tell."""

    def __init__(self, settings: Settings) -> None:
        self._redis = connected(settings)
        self._prefix = settings.redis_prefix

    def usual(self) -> Limits | None:
        """None while nothing flows, or nobody tells."""
        now = time.time()
        return usual_lag(self._read(now), now)

    def await_usual(self) -> Limits | None:
        """The same; asked for a few seconds, in which Redis or a stage may be busy."""
        until = time.monotonic() + USUAL_S
        while (limits := self.usual()) is None and time.monotonic() < until:
            time.sleep(POLL_S)
        return limits

    def await_caught_up(self, limits: Limits, since: float) -> CaughtUp:
        """Returns when every stage lags no more than within its limit, with tweets that were sent after `since`; or
        when all runs have ended, or PATIENCE_S is over."""
        while (now := time.time()) < since + PATIENCE_S:
            stages = self._read(now)
            if has_caught_up(stages, limits, since, now):
                return CaughtUp(now, flows=True)
            if now > since + QUIET_S and is_quiet(stages, now):
                return CaughtUp(None, flows=False)
            time.sleep(POLL_S)
        return CaughtUp(None, flows=True)

    def _read(self, now: float) -> dict[str, Stage]:
        """Nothing while Redis does not answer."""
        with suppress(redis.RedisError):
            return read_stages(self._redis, self._prefix, now)
        return {}


def usual_lag(stages: dict[str, Stage], now: float) -> Limits | None:
    """None unless tweets come, and have come through every stage of late."""
    found = readings(stages, now)
    p95 = {stage["name"]: stage["latency_ms"]["p95"] for stage in found}
    if not found[0]["rate_per_s"] or None in p95.values():
        return None
    return {name: (latency or 0.0) / 1000 + WRITE_SECONDS for name, latency in p95.items()}


def has_caught_up(stages: dict[str, Stage], limits: Limits, since: float, now: float) -> bool:
    """Whoever publishes may have been held up as well: then nothing lags, and nothing new has come."""
    published = stages.get(PUBLISHED)
    if not published or published.sent_high_us < since * 1e6:
        return False
    lags = {stage["name"]: stage["lag_seconds"] for stage in readings(stages, now)}
    return all(lag is not None and lag <= limits[name] for name, lag in lags.items())


def is_quiet(stages: dict[str, Stage], now: float) -> bool:
    """Whether nothing comes any more since all runs have ended, and nothing is on its way. A source that is held up has
    not ended, and what is unknown is not quiet."""
    published = stages.get(PUBLISHED)
    if not published or not published.ended or published.problem or published.rate != 0:
        return False
    return all(stage["lag_events"] == 0 for stage in readings(stages, now))


def await_back(settings: Settings, process: Process, killed_pid: int, killed_at: float) -> float | None:
    """When the process runs anew and does its work, in seconds since the epoch: None if it does not within PATIENCE_S,
    or within the longer time that its start may take.

    Neither what its predecessor had told until it was killed counts, nor what that has left running: workers answer
    until they find their parent gone. Raises NotRunning.
    """
    while time.time() < killed_at + max(PATIENCE_S, process.ready_seconds):
        with suppress(manager.NotAnswering):
            if not is_group(killed_pid) and _is_anew(settings, process, killed_pid, killed_at):
                return time.time()
        time.sleep(POLL_S)
    return None


def _is_anew(settings: Settings, process: Process, killed_pid: int, killed_at: float) -> bool:
    info = manager.ask(settings).getProcessInfo(process.name)
    return info["pid"] not in (0, killed_pid) and is_ready(process, max(info["start"], killed_at))
