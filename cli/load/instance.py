"""The running instance as experiments see it: its processes, and an audit in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from cli.audit.process import AuditProcess, NotJudged, auditing
from common import files
from common.settings import Settings
from deploy.local import supervision
from loadgen.evidence import Audited, Unjudged
from loadgen.experiment import Audit
from loadgen.failures import StackBroken

FOLLOW_SECONDS = 60.0
BEYOND_SECONDS = 10.0
"""How much longer than its time an answer of the audit is waited for."""

BUSY_SECONDS = 30.0
"""In which the process manager answers on a machine that an experiment keeps busy."""


class Instance:
    """A `loadgen.experiment.Stack`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def processes(self) -> dict[str, int]:
        try:
            infos = supervision.ask(self.settings, BUSY_SECONDS).getAllProcessInfo()
        except (supervision.NotRunning, supervision.NotAnswering) as error:
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


def running(instance: str | None) -> Instance:
    """The instance, which must run completely; fails with the way out otherwise."""
    settings = Settings.load(instance=instance)
    if not settings.settings_file.exists():
        raise click.ClickException(f"there is no instance {settings.instance}: start it with `murmur up`")
    found = Instance(settings)
    try:
        found.processes()
    except StackBroken as error:
        raise click.ClickException(str(error)) from error
    return found


def _audited(process: AuditProcess, runs: Sequence[str], timeout: float) -> dict[str, Audited] | Unjudged:
    try:
        stages = process.stages(runs, timeout, BEYOND_SECONDS)
    except NotJudged as error:
        return Unjudged(str(error))
    return {stage: Audited.of(found) for stage, found in stages.items()}
