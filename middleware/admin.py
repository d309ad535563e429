"""Administration: streams, consumer groups, what retention leaves, and the durability in force."""

from __future__ import annotations

import logging
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from common.settings import Durability
from common.storage.held import Held
from middleware.data import Position
from middleware.errors import MiddlewareError, Unreachable

DONE_SECONDS = 60.0

CREATE_SECONDS, CHANGE_PAUSE_SECONDS = 60.0, 1.0
"""A server that has just started on busy cores may take longer than one call, and goes on with it at the next. One
whose own store is away for some seconds, or its disk full, refuses at once."""

NOBODY_LISTENS = (ConnectionRefusedError, socket.gaierror)

log = logging.getLogger(__name__)


class Admin(ABC):
    """What is done to streams and groups beside writing and reading."""

    @abstractmethod
    def wait_until_ready(self, timeout: float) -> None:
        """Returns when streams can be created, or raises Unreachable after `timeout` seconds."""

    @abstractmethod
    def create_stream(self, stream: str, partitions: int) -> None:
        """Creates the stream, bounded by `stream_retention_bytes`; does nothing if it exists."""

    @abstractmethod
    def committed(self, stream: str, group: str) -> Position | None:
        """What the group has committed; None if there is no such group. Raises UnknownStream or Unreachable."""

    @abstractmethod
    def move_group(self, stream: str, group: str, to: Position) -> None:
        """Commits `to` for a group whose members are closed, which it waits for as long as one may be taken for alive.

        Raises MiddlewareError when one is.
        """

    @abstractmethod
    def forget_group(self, stream: str, group: str) -> None:
        """Removes a group, whose members are closed, and its position; does nothing if there is none."""

    @abstractmethod
    def held(self, stream: str) -> Held:
        """What the stream holds, in bytes as the server stores them. Raises UnknownStream or Unreachable."""

    @abstractmethod
    def retention_used(self, stream: str, position: Position) -> float | None:
        """Share of the stream's bound that lies between the position and the end.

        0: all is read; from 1 on the next retention takes events that are not, or the last one has. None where the
        bytes cannot be known. Raises UnknownStream or Unreachable.
        """

    @abstractmethod
    def durability_in_force(self) -> Durability | None:
        """Durability class of the running server, whatever the settings wish for; None where it cannot be asked.

        Raises Unreachable, and UnknownStream as long as the application's streams do not exist.
        """


class Operator(Protocol):
    """What an operator, or the server's own retention, does behind the back of those who read: for the conformance
    tests, since the application does none of it."""

    def truncate(self, to: Position) -> None:
        """Removes all events before a position, as retention does."""

    def delete(self, stream: str) -> None:
        """Removes the stream."""

    def scale(self, stream: str, partitions: int) -> None:
        """Has the stream go on in so many partitions, more than it had; returns when it does."""


def await_answer(server: str, ask: Callable[[], object], timeout: float,
                 not_yet: tuple[type[MiddlewareError], ...] = (Unreachable,)) -> None:
    """Returns once a call has not raised one of `not_yet`; raises Unreachable, with the last of them, after `timeout`
    seconds."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            ask()
            return
        except not_yet as error:
            if time.monotonic() > deadline:
                raise Unreachable(f"{server} was not ready within {timeout:.0f} s: {error}") from error
        time.sleep(0.2)


def change(ask: Callable[[], None], seconds: float) -> None:
    """Asks for a change that can be asked for twice, and again where the server cannot do it now. Raises Unreachable
    where it could not within so many seconds, and at once where nobody listens."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return ask()
        except Unreachable as error:
            if time.monotonic() + CHANGE_PAUSE_SECONDS > deadline or isinstance(error.__cause__, NOBODY_LISTENS):
                raise
            log.warning("%s; trying again", error)
            time.sleep(CHANGE_PAUSE_SECONDS)


def await_done(what: str, done: Callable[[], bool], seconds: float = DONE_SECONDS) -> None:
    """Returns once what was asked for has come true; raises Unreachable after so many seconds."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise Unreachable(f"{what} took longer than {seconds:.0f} s")
        time.sleep(0.2)
