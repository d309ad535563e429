"""The process manager of an instance: supervisord, its configuration and what it is asked."""

from __future__ import annotations

import hashlib
import http.client
import os
import resource
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import xmlrpc.client
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from supervisor.states import ProcessStates

from common.settings import Settings
from deploy.local.process import Process, background, ends_with_parent
from deploy.local.rendering import write

SOCKET_PATH_BYTES = 90
"""A Unix socket's path holds 108 bytes, and supervisord first binds a longer name beside it."""

OPEN_FILES = 65536

LOG_FILES = 3
"""Of each process: the bound of its log is theirs together."""

DAEMON_LOG_BYTES = 4 << 20
"""Bound of the process manager's own log, in two files."""

START_SECONDS = 15
STOP_SECONDS = 10
"""In which a single process ends, or is killed, when the process manager is told to end it."""

SHUTDOWN_SECONDS = 1

ANSWER_SECONDS = 3.0
"""In which the process manager answers, unless it is held or the machine is."""

ENDED_SECONDS = STOP_SECONDS + ANSWER_SECONDS
"""The same for an answer that comes when a process has ended, or has run for a while."""


class NotRunning(Exception):
    """The instance has no process manager."""


class NotAnswering(Exception):
    """The process manager of the instance is there, and does not answer."""


def socket_path(settings: Settings) -> Path:
    """Where the process manager listens: in the instance's folder, or in a short one of this user's if too long."""
    path = settings.instance_dir / "supervisor.sock"
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"murmur-{os.getuid()}" / f"{name}.sock"


def write_configuration(settings: Settings, processes: Sequence[Process]) -> Path:
    """Renders supervisor.conf for these processes."""
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    open_files = OPEN_FILES if hard_limit == resource.RLIM_INFINITY else min(OPEN_FILES, hard_limit)
    return write("supervisor.conf", settings.instance_dir / "supervisor.conf", settings,
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


def start(settings: Settings) -> None:
    """Starts supervisord, which starts everything; returns when it can be asked."""
    folder = socket_path(settings).parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    command = [sys.executable, "-m", "deploy.local.supervisord", "-c", str(settings.instance_dir / "supervisor.conf")]
    known = {
        "MURMUR_SETTINGS": str(settings.settings_file),
        "MURMUR_HOME": str(settings.home.resolve()),
        "GRPC_VERBOSITY": "NONE",  # Milvus' client keeps its connections alive in a way of which gRPC complains
    }
    result = subprocess.run(command, env={**os.environ, **known}, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True)
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


def is_running(settings: Settings) -> bool:
    """Whether the instance has a process manager. Raises NotAnswering."""
    try:
        return bool(ask(settings).getState())
    except NotRunning:
        return False


class _Connection(http.client.HTTPConnection):
    """To a Unix socket; neither to connect nor to read takes longer than the time-out."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__("127.0.0.1", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class _Transport(xmlrpc.client.Transport):
    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__()
        self._to = _Connection(path, seconds)

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        return self._to

    def close(self) -> None:
        self._to.close()  # the next call connects anew


class Asked:
    """Calls of supervisord's XML-RPC interface, such as `getAllProcessInfo()`. NotRunning when nobody is there,
    NotAnswering when an answer takes longer than `seconds`."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._server = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=_Transport(path, seconds))

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            try:
                return getattr(self._server.supervisor, name)(*arguments)
            except (TimeoutError, BlockingIOError) as error:  # the latter when too many wait to be accepted
                raise NotAnswering("the process manager of the instance does not answer: `murmur down` ends it, and "
                                   "everything that it started") from error
            except (OSError, xmlrpc.client.ProtocolError) as error:
                raise NotRunning("the instance is not running: start it with `murmur up`") from error

        return call


def ask(settings: Settings, seconds: float = ANSWER_SECONDS) -> Asked:
    """`seconds`: for each answer."""
    return Asked(socket_path(settings), seconds)


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
