"""Pravega's Java client inside this process, by JPype. Its calls let go of the interpreter's lock."""

from __future__ import annotations

import atexit
import threading
import time
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

END_S, POLL_S = 5.0, 0.02
"""How long threads of Java may take to end, once this process does, and how often that is looked at."""

_starting = threading.Lock()


def connection(jars: Path, uri: str, scope: str, timeout_s: float, options: str) -> Any:
    """A murmuration.pravega.Connection. Starts the JVM, with these further options, if there is none: so never before
    a fork.
    """
    with _starting:
        if not jpype.isJVMStarted():
            if not jars.exists():
                raise MiddlewareError(f"Pravega's client is not in {jars}: run `make setup`")
            jpype.startJVM(*_OPTIONS, *options.split(), classpath=[f"{jars}/*"], convertStrings=True)
            atexit.register(_await_threads)
    return jpype.JClass("murmuration.pravega.Connection")(uri, scope, round(timeout_s * 1000))


def _await_threads() -> None:
    """JPype has a process that ends wait for all threads of Java, and those of the client may wait for servers that are
    away: a process that has not closed its connection would stay, and keep what it listens at. So the JVM is left as it
    is where they do not end. `common.process.ending` would end the process, too, but with an exit code that is not its
    own.

    The thread that frees what Python held has to be stopped then: at the end of the interpreter it would abort the
    process. So would one that calls what Python has implemented for Java, of which there is nothing.
    """
    thread = jpype.JClass("java.lang.Thread")
    until = time.monotonic() + END_S
    while any(not (each.isDaemon() or each == thread.currentThread()) for each in thread.getAllStackTraces().keySet()):
        if time.monotonic() > until:
            jpype.config.destroy_jvm = False
            jpype.JClass("org.jpype.ref.JPypeReferenceQueue").getInstance().stop()
            return
        time.sleep(POLL_S)


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
