"""Waits until every process does its work, in parallel and bounded."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from common.settings import Settings
from deploy.local import supervision
from deploy.local.process import Process

POLL_SECONDS = 0.2
LOG_LINES = 15


class NotReady(Exception):
    """A process did not become ready in time; the message holds the end of its log."""


def await_ready(settings: Settings, processes: Sequence[Process]) -> Iterator[Process]:
    """Yields each process as it becomes ready; raises NotReady once every other one is."""
    given_up = threading.Event()
    with ThreadPoolExecutor(max_workers=max(1, len(processes))) as pool:
        waiting = {pool.submit(_await_one, settings, process, given_up): process for process in processes}
        late: list[Process] = []
        try:
            for future in as_completed(waiting):
                if future.result():
                    yield waiting[future]
                else:
                    late.append(waiting[future])
        finally:
            given_up.set()  # on Ctrl-C the threads must not go on waiting
    if late:
        raise NotReady("\n\n".join(_why(settings, process) for process in late))


def _await_one(settings: Settings, process: Process, given_up: threading.Event) -> bool:
    until = time.monotonic() + process.ready_seconds
    asked = supervision.ask(settings)
    while time.monotonic() < until:
        info = asked.getProcessInfo(process.name)
        if info["pid"] and _is_ready(process, info["start"]):
            return True
        if given_up.wait(POLL_SECONDS):
            break
    return False


def _is_ready(process: Process, started: float) -> bool:
    try:
        return process.ready(started)
    except Exception:  # whatever the client raises means "not yet": see Probe
        return False


def _why(settings: Settings, process: Process) -> str:
    log = settings.log_dir / f"{process.name}.log"
    again = f"--instance {settings.instance}"
    return (f"{process.name} was not ready after {process.ready_seconds} s. The end of its log:\n"
            + "\n".join(f"  {line}" for line in last_lines(log, LOG_LINES))
            + f"\nMore: `murmur logs {process.name} {again}`; then `murmur down {again}` and `up` again.")


def last_lines(log: Path, count: int) -> list[str]:
    """The last lines of a log; empty if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 500 * count))
            return file.read().decode(errors="replace").splitlines()[-count:]
    except FileNotFoundError:
        return []
