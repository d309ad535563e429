"""The part of the producer that is in Java, over a client that is written here: nothing is lost track of."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from typing import Any

import jpype
import numpy as np
import pytest

from common.settings import Settings
from middleware.pravega import jvm

MAX_EVENTS, MAX_BYTES = 10, 1000

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module", autouse=True)
def java() -> None:
    jvm.connection(Settings().jar_dir / "pravega-client", "tcp://127.0.0.1:9", "none", 1, "").close()


def writer(write: Callable[[str, Any], Any]) -> Any:
    client = jpype.JProxy("io.pravega.client.stream.EventStreamWriter", dict={
        "writeEvent": write, "flush": lambda: None, "close": lambda: None})
    return jpype.JClass("murmuration.pravega.BlockWriter")(client, MAX_EVENTS, MAX_BYTES)


def offer(to: Any, size: int, timeout_ms: int = 0) -> bool:
    """Whether a block of so many bytes was taken: one event."""
    block = struct.pack(">ii", 1, size - 9) + b"k" + bytes(size - 9)
    np.frombuffer(to.room(size), np.uint8)[:] = np.frombuffer(block, np.uint8)
    return bool(to.offer(size, 1, timeout_ms))


def flushed(to: Any) -> bool:
    return bool(to.flush(10_000))


def pending() -> Any:
    return jpype.JClass("java.util.concurrent.CompletableFuture")()


def test_a_block_waits_until_there_is_room_for_bytes() -> None:
    answers = [pending() for _ in range(4)]
    coming = iter(answers)
    with writer(lambda key, event: next(coming)) as to:
        assert offer(to, 3 * MAX_BYTES)  # one may always be
        assert not offer(to, 10)
        answers[0].complete(None)
        assert offer(to, MAX_BYTES - 1, 10_000)
        assert offer(to, 10)
        assert not offer(to, 10)
        assert not to.flush(0)
        answers[1].complete(None)
        assert offer(to, 10, 10_000)
        for answer in answers[2:]:
            answer.complete(None)
        assert flushed(to)


def test_a_block_waits_until_there_is_room_for_events() -> None:
    answers: list[Any] = []

    def write(key: str, event: Any) -> Any:
        answers.append(pending())
        return answers[-1]

    with writer(write) as to:
        assert [offer(to, 10) for _ in range(MAX_EVENTS + 1)] == [True] * MAX_EVENTS + [False]
        to.push()
        while len(answers) < MAX_EVENTS:
            threading.Event().wait(0.01)
        answers[0].complete(None)
        assert offer(to, 10, 10_000)
        while len(answers) <= MAX_EVENTS:
            threading.Event().wait(0.01)
        for answer in answers[1:]:
            answer.complete(None)
        assert flushed(to)


@pytest.mark.parametrize("kind", ["java.lang.IllegalStateException", "java.lang.OutOfMemoryError"])
def test_what_the_client_throws_ends_the_flush_and_is_told(kind: str) -> None:
    def refuse(key: str, event: Any) -> Any:
        raise jpype.JClass(kind)("no room")

    with writer(refuse) as to:
        assert offer(to, 10)
        assert flushed(to)
        assert "no room" in str(to.failure())


def test_what_waits_when_it_is_closed_is_not_sent() -> None:
    written, begun, go_on = [], threading.Event(), threading.Event()

    def write(key: str, event: Any) -> Any:
        written.append(key)
        begun.set()
        go_on.wait(30)
        answer = pending()
        answer.complete(None)
        return answer

    to = writer(write)
    assert offer(to, 10)
    assert offer(to, 10)
    assert begun.wait(30)
    closing = threading.Thread(target=to.close)
    closing.start()
    closing.join(0.5)  # it waits for the thread that writes
    go_on.set()
    closing.join(30)
    assert flushed(to)
    assert len(written) == 1
