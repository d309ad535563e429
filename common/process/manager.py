"""What the process manager of an instance is asked, by a Unix socket in the instance's folder."""

from __future__ import annotations

import http.client
import xmlrpc.client
from pathlib import Path
from typing import Any

from common.process import unix_socket
from common.settings import Settings

STOP_SECONDS = 10
"""In which a single process ends, or is killed, when the process manager is told to end it."""

ANSWER_SECONDS = 3.0
"""In which the process manager answers, unless it is held or the machine is."""

ENDED_SECONDS = STOP_SECONDS + ANSWER_SECONDS
"""The same for an answer that comes when a process has ended, or has run for a while."""


class NotRunning(Exception):
    """The instance has no process manager."""


class NotAnswering(Exception):
    """The process manager of the instance is there, and does not answer."""


def socket_path(settings: Settings) -> Path:
    """Where the process manager listens."""
    return unix_socket.path(settings, "supervisor")


def is_running(settings: Settings) -> bool:
    """Whether the instance has a process manager. Raises NotAnswering."""
    try:
        return bool(ask(settings).getState())
    except NotRunning:
        return False


class _Transport(xmlrpc.client.Transport):
    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__()
        self._to = unix_socket.Connection(path, seconds)

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
