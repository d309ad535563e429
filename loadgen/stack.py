"""The running instance as experiments see it: its processes, and an audit in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psutil
import requests

from audit.process import AuditProcess, NotJudged, auditing
from common.experiments import experimenting
from common.process import manager
from common.settings import Settings
from common.storage import files
from loadgen.errors import Busy, StackBroken
from loadgen.experiment import Audit, Watch, warm_up
from loadgen.observe.samples import Audited, Unjudged

FOLLOW_SECONDS = 60.0
BEYOND_SECONDS = 10.0
"""How much longer than its time an answer of the audit is waited for."""

BUSY_SECONDS = 30.0
"""In which the process manager answers on a machine that an experiment keeps busy."""

READY_SECONDS = 10.0
"""In which the page says whether it is ready."""

WARMING_RATE = 500.0
"""Enough to compile everything; an overload would have to drain."""


class Instance:
    """A `loadgen.experiment.Stack`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def processes(self) -> dict[str, int] | None:
        if self.settings.service_hosts:
            return None
        try:
            infos = manager.ask(self.settings, BUSY_SECONDS).getAllProcessInfo()
        except (manager.NotRunning, manager.NotAnswering) as error:
            raise StackBroken(str(error)) from error
        down = [info["name"] for info in infos if not info["pid"]]
        if down:
            raise StackBroken(f"these processes do not run: {', '.join(down)}; `murmur logs NAME` tells why")
        return {info["name"]: info["pid"] for info in infos}

    @contextmanager
    def auditing(self) -> Iterator[Audit]:
        path = self.settings.log_dir / "load.log"
        with (
            files.log_file(path, self.settings.log_max_bytes) as log,
            auditing(self.settings, "tail", FOLLOW_SECONDS, log) as process,
        ):
            try:
                process.follows(FOLLOW_SECONDS)
            except NotJudged as error:
                raise StackBroken(f"the audit: {error}; see load.log of the instance") from error
            yield lambda runs, timeout: _audited(process, runs, timeout)


@contextmanager
def running(settings: Settings) -> Iterator[Instance]:
    """The instance, which must run completely, or where nobody sees its processes its page; held for experiments during
    the block. Raises StackBroken."""
    found = Instance(settings)
    if found.processes() is None:
        try:
            requests.get(f"{settings.url}/readyz", timeout=READY_SECONDS).raise_for_status()
        except requests.RequestException as error:
            raise StackBroken(f"the page is not ready: {error}") from error
    busy = Busy(f"another experiment, or `murmur chaos`, runs on instance {settings.instance}")
    with experimenting(settings, refusal=busy):
        yield found


def _audited(process: AuditProcess, runs: Sequence[str], timeout: float) -> dict[str, Audited] | Unjudged:
    try:
        stages = process.stages(runs, timeout, BEYOND_SECONDS)
    except NotJudged as error:
        return Unjudged(str(error))
    return {stage: Audited.of(found) for stage, found in stages.items()}


def ensure_warm(instance: Instance, rate: float, seconds: float, watch: Watch) -> None:
    """Warms up, unless the same processes are known to have been warmed up before, or `seconds` is 0: which start of it
    was is remembered in a file."""
    path, processes = instance.settings.state_dir / "load" / "warm.json", instance.processes()
    current = {name: [pid, psutil.Process(pid).create_time()] for name, pid in (processes or {}).items()}
    try:
        if current and json.loads(path.read_text()) == current:
            return
    except (OSError, ValueError):
        pass
    if seconds:
        warm_up(instance, min(rate, WARMING_RATE), seconds, watch)
        path.write_text(json.dumps(current))
