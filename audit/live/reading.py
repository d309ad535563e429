"""Each server is asked by a thread of its own, so that one that does not answer holds up nobody else's figures."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, TypeVar

from common.addresses import masked

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class Reading(Generic[T]):
    """What was read, and between which moments, in monotonic seconds."""

    value: T
    began: float
    ended: float


class Source(Generic[T]):
    """Reads again and again; `latest` is what it has read last, None before the first time."""

    def __init__(
        self, name: str, opened: Callable[[], AbstractContextManager[Callable[[], T]]], every_s: float,
        passing: tuple[type[Exception], ...],
    ) -> None:
        """`opened`: gives, for as long as nothing fails, what reads. `passing`: what it may raise, and does not later.
        """
        self.latest: Reading[T] | None = None
        self._name, self._opened, self._every_s, self._passing = name, opened, every_s, passing
        self._failing = False

    def start(self, stop: threading.Event) -> threading.Thread:
        """Anything else than what passes ends the thread, and `stop` is set: the process is to start afresh."""
        thread = threading.Thread(target=self._run, args=(stop,), name=self._name, daemon=True)
        thread.start()
        return thread

    def _run(self, stop: threading.Event) -> None:
        try:
            while not stop.is_set():
                try:
                    with self._opened() as read:
                        while not stop.is_set():
                            self._read(read)
                            stop.wait(self._every_s)
                except self._passing as error:
                    self._tell(error)
                    stop.wait(self._every_s)
        except Exception:
            log.exception("%s cannot be read any more", self._name)
            stop.set()

    def _read(self, read: Callable[[], T]) -> None:
        began = time.monotonic()
        value = read()
        self.latest = Reading(value, began, time.monotonic())
        if self._failing:
            log.info("%s: it answers again", self._name)
            self._failing = False

    def _tell(self, error: Exception) -> None:
        if not self._failing:
            log.warning("%s: %s", self._name, masked(f"{type(error).__name__}: {error}"))
            self._failing = True


class History(Generic[T]):
    """The last values, and since when each holds; for those whose other figures are from a certain moment."""

    def __init__(self) -> None:
        self._values: deque[tuple[float, T]] = deque(maxlen=32)

    def add(self, value: T, at: float) -> None:
        self._values.append((at, value))

    def at(self, moment: float) -> T | None:
        """The newest that held at that moment."""
        return next(self._older(moment), None)

    def _older(self, moment: float) -> Iterator[T]:
        return (value for at, value in reversed(self._values) if at <= moment)
