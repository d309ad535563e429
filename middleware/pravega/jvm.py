"""Pravega's Java client inside this process, by JPype. Its calls let go of the interpreter's lock."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jpype
import jpype.config

from middleware.errors import MiddlewareError, Unreachable

_OPTIONS = (
    "-Xms128m", "-Xmx256m", "-XX:MaxDirectMemorySize=512m",
    # Room for what is new, so that Java seldom collects: JPype has Python collect all of its garbage each time.
    "-Xmn96m",
    # A process that mostly waits: no compiler threads for peak speed, no parallel collector.
    "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
    "-XX:+UseTransparentHugePages", "-XX:+AlwaysPreTouch",
    "-Xrs",  # signals are Python's
    "-Djava.net.preferIPv4Stack=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",  # what fails is raised, and logged by whoever catches it
)  # fmt: skip

_LATER = ("java.util.concurrent.TimeoutException", "io.pravega.client.control.impl.ControllerFailureException")
"""What may go well at the next call."""

_starting = threading.Lock()


def connection(jars: Path, uri: str, scope: str, timeout_s: float, options: str) -> Any:
    """A murmuration.pravega.Connection. Starts the JVM, with these further options, if there is none: so never before
    a fork.
    """
    with _starting:
        if not jpype.isJVMStarted():
            if not jars.exists():
                raise MiddlewareError(f"Pravega's client is not in {jars}: run `make setup`")
            # Else a process that ends waits for all threads of Java, and those of the client may wait for servers that
            # are away: it would stay, and keep what it listens at.
            jpype.config.destroy_jvm = False
            atexit.register(_stop_collecting)
            jpype.startJVM(*_OPTIONS, *options.split(), classpath=[f"{jars}/*"], convertStrings=True)
    return jpype.JClass("murmuration.pravega.Connection")(uri, scope, round(timeout_s * 1000))


def _stop_collecting() -> None:
    """Without it the thread of Java that frees what Python held is there when the interpreter is not, and the process
    aborts: the JVM itself, which is left as it is, would have stopped it."""
    jpype.JClass("org.jpype.ref.JPypeReferenceQueue").getInstance().stop()


@contextmanager
def raising(error: type[MiddlewareError], what: str) -> Iterator[None]:
    """Turns what Java throws into one of ours; no answer in time is Unreachable, and so is a controller's "failure",
    which stands for whatever kept it from its own store: what is wrong with a request has other names."""
    try:
        yield
    except jpype.JException as cause:
        later = isinstance(cause, tuple(jpype.JClass(name) for name in _LATER))
        raise (Unreachable if later else error)(f"{what}: {cause}") from cause


def pairs(flat: Sequence[int]) -> dict[int, int]:
    """Segment → offset from Java's long[] id, offset, id, offset, …"""
    numbers = [int(number) for number in flat]
    return dict(zip(numbers[::2], numbers[1::2], strict=True))
