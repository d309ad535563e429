"""The running instance as experiments see it: its processes, and an audit in a process of its own."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from common.settings import Settings
from deploy.local import supervision
from loadgen.evidence import Audited
from loadgen.experiment import Audit
from loadgen.failures import StackBroken

FOLLOW_SECONDS = 60.0
BEYOND_SECONDS = 120.0
"""How much longer than it waits for what is missing an audit may take."""


class Instance:
    """A `loadgen.experiment.Stack`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def processes(self) -> dict[str, int]:
        try:
            infos = supervision.ask(self.settings).getAllProcessInfo()
        except supervision.NotRunning as error:
            raise StackBroken(str(error)) from error
        down = [info["name"] for info in infos if not info["pid"]]
        if down:
            raise StackBroken(f"these processes do not run: {', '.join(down)}; `murmur logs NAME` tells why")
        return {info["name"]: info["pid"] for info in infos}

    @contextmanager
    def auditing(self) -> Iterator[Audit]:
        with (self.settings.log_dir / "load.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "cli.audit.following", self.settings.instance], process_group=0,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )
        try:
            if _answer(process, FOLLOW_SECONDS) is None:
                raise StackBroken("the audit cannot read the streams: see load.log of the instance")
            yield lambda runs, timeout: _audited(process, runs, timeout)
        finally:
            _end(process)


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


def _audited(process: subprocess.Popen[bytes], runs: Sequence[str], timeout: float) -> dict[str, Audited] | None:
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps({"runs": list(runs), "timeout": timeout}).encode() + b"\n")
        process.stdin.flush()
    except OSError:
        return None
    answer = _answer(process, timeout + BEYOND_SECONDS)
    if answer is None:
        return None
    return {
        stage: Audited(found["expected"], found["missing"], found["duplicated"])
        for stage, found in answer["stages"].items()
    }


def _answer(process: subprocess.Popen[bytes], timeout: float) -> dict | None:
    """The next line as JSON; None if none came in time."""
    assert process.stdout is not None
    until, line = time.monotonic() + timeout, b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))
        part = os.read(process.stdout.fileno(), 65536) if ready else b""
        if not part:
            return None
        line += part
    return dict(json.loads(line))


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    try:
        process.stdin.close()
        process.wait(10)
    except (OSError, subprocess.TimeoutExpired):
        process.kill()
        process.wait()
