"""supervisord as the process manager of an instance: its configuration, its start and its end."""

from __future__ import annotations

import os
import resource
import shlex
import signal
import subprocess
import time
import xmlrpc.client
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil
from supervisor.states import ProcessStates

from common import modules
from common.process.child import ends_with_parent, python
from common.process.manager import STOP_SECONDS, Asked, NotAnswering, ask, is_running, socket_path
from common.settings import Settings
from deploy.local.processes.spec import Process, background
from deploy.local.rendering import write

OPEN_FILES = 65536

LOG_FILES = 3
"""Of each process: the bound of its log is theirs together."""

DAEMON_LOG_BYTES = 4 << 20
"""Bound of the process manager's own log, in two files."""

START_SECONDS = 15
SHUTDOWN_SECONDS = 1



def write_configuration(settings: Settings, processes: Sequence[Process]) -> Path:
    """Renders supervisor.conf for these processes."""
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    open_files = OPEN_FILES if hard_limit == resource.RLIM_INFINITY else min(OPEN_FILES, hard_limit)
    return write("processes/supervisor.conf", settings.instance_dir / "supervisor.conf", settings,
                 socket=escaped(str(socket_path(settings))), open_files=open_files, stop_seconds=STOP_SECONDS,
                 log_files=LOG_FILES, log_file_bytes=settings.log_max_bytes // LOG_FILES,
                 daemon_log_file_bytes=DAEMON_LOG_BYTES // 2,
                 programs=[(process, command_line(process), environment(process.environment)) for process in processes])


def command_line(process: Process) -> str:
    command = process.command if process.foreground else background(process.command)
    return escaped(shlex.join(ends_with_parent(command)))


def environment(variables: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{escaped(value)}"' for name, value in variables.items())


def escaped(text: str) -> str:
    """supervisord expands what follows a percent sign."""
    return text.replace("%", "%%")


def known(settings: Settings) -> dict[str, str]:
    """What every process of the instance finds in its environment."""
    return {
        "MURMUR_SETTINGS": str(settings.settings_file),
        "MURMUR_HOME": str(settings.home.resolve()),
        "GRPC_VERBOSITY": "NONE",  # Milvus' client keeps its connections alive in a way of which gRPC complains
    }


def start(settings: Settings) -> None:
    """Starts supervisord, which starts everything; returns when it can be asked."""
    folder = socket_path(settings).parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    command = python(modules.Deploy.SUPERVISORD, "-c", str(settings.instance_dir / "supervisor.conf"))
    result = subprocess.run(command, env={**os.environ, **known(settings)}, stdin=subprocess.DEVNULL,
                            capture_output=True, text=True)
    if result.returncode:
        raise OSError(f"the process manager did not start: {(result.stdout + result.stderr).strip()}")
    until = time.monotonic() + START_SECONDS
    while True:
        with suppress(NotAnswering):  # not yet
            if is_running(settings):
                return
        if time.monotonic() > until:
            raise OSError(f"the process manager does not answer: see {settings.log_dir / 'supervisord.log'}")
        time.sleep(0.05)


def add_missing(settings: Settings) -> list[str]:
    """Starts the programs that the written configuration has and the running process manager does not."""
    asked = ask(settings, START_SECONDS)
    added, _, _ = asked.reloadConfig()[0]
    for name in added:
        asked.addProcessGroup(name)
    return list(added)


def stop(settings: Settings, processes: Sequence[Process]) -> None:
    """Stops stage by stage, the last one first, then the process manager. Raises NotAnswering.

    A stage has its share of the time, and what the stages before it have left of theirs. Who has not ended by then is
    killed: everything that was acknowledged is durable, and a stop takes no longer than users wait for it.
    """
    asked = ask(settings)
    running = {info["name"] for info in asked.getAllProcessInfo() if info["state"] != ProcessStates.STOPPED}
    until = time.monotonic()
    for stage in sorted({process.stage for process in processes}, reverse=True):
        wave = [process for process in processes if process.stage == stage and process.name in running]
        for process in wave:
            try:
                asked.stopProcess(process.name, False)
            except xmlrpc.client.Fault:
                continue  # it has just ended by itself
        until += max((process.stop_seconds for process in wave), default=0)
        names = {process.name for process in wave}
        while alive(asked, names) and time.monotonic() < until:
            time.sleep(0.05)
        for pid in alive(asked, names):
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # each leads a session of its own
    shut_down(asked)


def alive(asked: Asked, names: set[str]) -> list[int]:
    """Process ids of those of these names that run."""
    return [info["pid"] for info in asked.getAllProcessInfo() if info["pid"] and info["name"] in names]


def shut_down(asked: Asked) -> None:
    """Ends supervisord; it takes with it what it did not stop."""
    daemon = psutil.Process(asked.getPID())
    asked.shutdown()
    try:
        daemon.wait(SHUTDOWN_SECONDS)
    except psutil.TimeoutExpired:
        daemon.kill()
