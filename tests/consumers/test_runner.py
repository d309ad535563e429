import errno
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
import redis
from sqlalchemy.exc import OperationalError

from common.settings import Settings
from common.tweets import RAW
from consumers import runner
from consumers.runner import Retry, Runner, Stopping, consume
from middleware.errors import UnknownStream, Unreachable
from tests.memory import Memory
from tests.stack import ROOT


def test_what_is_down_is_tried_again(monkeypatch) -> None:
    monkeypatch.setattr(runner, "FIRST_PAUSE_S", 0.001)
    failures = [Unreachable("down"), ConnectionError("refused"), UnknownStream(RAW)]

    def attempt() -> str:
        if failures:
            raise failures.pop()
        return "done"

    assert Retry(threading.Event())("trying", attempt) == "done"


def test_retries_are_bounded(monkeypatch) -> None:
    monkeypatch.setattr(runner, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(runner, "RETRY_S", 0.05)
    calls = []

    def attempt() -> None:
        calls.append(1)
        raise Unreachable("down")

    with pytest.raises(Unreachable):
        Retry(threading.Event())("trying", attempt)
    assert len(calls) > 2


def test_a_fault_of_the_program_is_not_tried_again() -> None:
    calls = []

    def attempt() -> None:
        calls.append(1)
        raise KeyError("typo")

    with pytest.raises(KeyError):
        Retry(threading.Event())("trying", attempt)
    assert calls == [1]


def test_a_stop_ends_the_waiting() -> None:
    stop = threading.Event()

    def attempt() -> None:
        stop.set()
        raise Unreachable("down")

    began = time.monotonic()
    with pytest.raises(Stopping):
        Retry(stop)("trying", attempt)
    assert time.monotonic() - began < runner.RETRY_S


class Kept:
    """A handler that keeps what it was given; `failures` are raised first, one a call."""

    def __init__(self, stop: threading.Event, until: int = 1, failures: list[Exception] | None = None) -> None:
        self.events: list[bytes] = []
        self.places: list[str] = []
        self.closed, self.refused = False, 0
        self._stop, self._until, self._failures = stop, until, failures or []

    def handle(self, events: list[bytes], place: runner.Place) -> None:
        if self._failures:
            raise self._failures.pop(0)
        self.events += events
        self.places += [place(index) for index in range(len(events))]

    def not_committed(self) -> None:
        self.refused += 1

    def tick(self) -> None:
        if len(self.events) >= self._until:
            self._stop.set()

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def memory(monkeypatch) -> Memory:
    monkeypatch.setattr(runner, "FIRST_PAUSE_S", 0.001)
    made = Memory(Settings())
    made.admin.create_stream(RAW, 1)
    with made.data.producer(RAW) as producer:
        for number in range(5):
            producer.send("key", b"%d" % number)
    return made


def run(memory: Memory, handler: Kept, stop: threading.Event) -> int:
    return consume(Runner(memory.data, RAW, "group", "0", stop), lambda: handler, stop, max_events=2, timeout=0)


def committed(memory: Memory) -> int:
    return memory.logs[RAW].groups["group"][0]


def test_every_event_is_handled_with_its_place_and_then_committed(memory: Memory) -> None:
    stop = threading.Event()
    handler = Kept(stop, until=5)
    assert run(memory, handler, stop) == 0
    assert handler.events == [b"0", b"1", b"2", b"3", b"4"]
    assert handler.places == [f"0/{offset}" for offset in range(5)]
    assert committed(memory) == 5
    assert handler.closed
    assert memory.logs[RAW].members["group"] == []


def test_what_was_not_handled_is_not_committed(memory: Memory) -> None:
    stop = threading.Event()
    handler = Kept(stop, failures=[KeyError("typo")])
    assert run(memory, handler, stop) == 1
    assert committed(memory) == 0
    assert handler.closed


FULL = [
    OSError(errno.ENOSPC, "No space left on device"),
    OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full")),
    redis.exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'"),
    redis.ResponseError("MISCONF Errors writing to the AOF file"),
]


@pytest.mark.parametrize("full", FULL, ids=["disk", "database", "memory", "log"])
def test_what_is_full_is_waited_for(memory: Memory, full: Exception) -> None:
    stop = threading.Event()
    handler = Kept(stop, until=5, failures=[full] * 3)
    assert run(memory, handler, stop) == 0
    assert handler.events == [b"0", b"1", b"2", b"3", b"4"]


def test_a_commit_that_fails_brings_the_events_again(memory: Memory) -> None:
    stop = threading.Event()
    handler = Kept(stop, until=7)
    handle = handler.handle

    def remove_once(events: list[bytes], place: runner.Place) -> None:
        handle(events, place)
        if len(handler.events) == 2:
            memory.admin.forget_group(RAW, "group")

    handler.handle = remove_once
    assert run(memory, handler, stop) == 0
    assert handler.events == [b"0", b"1", b"0", b"1", b"2", b"3", b"4"]
    assert (committed(memory), handler.refused) == (5, 1)


def test_a_handler_is_told_that_its_events_are_another_members_too(memory: Memory, monkeypatch) -> None:
    stop, answers = threading.Event(), [True, False, True]
    monkeypatch.setattr("tests.memory.MemoryConsumer.commit", lambda _: answers.pop(0))
    handler = Kept(stop, until=5)
    assert run(memory, handler, stop) == 0
    assert (answers, handler.refused) == ([], 1)


def test_nobody_goes_on_behind_what_retention_removed(memory: Memory, monkeypatch, caplog) -> None:
    monkeypatch.setattr(runner, "OVERTAKEN_PAUSE_S", 0.01)
    memory.data.consumer(RAW, "group").close()
    memory.truncate(RAW, 3)
    stop, polls = threading.Event(), []
    memory.on_poll = lambda: polls.append(1)
    handler = Kept(stop)
    assert run(memory, handler, stop) == 1
    assert (handler.events, committed(memory), len(polls)) == ([], 0, 1)
    assert "murmur accept-loss" in caplog.text


def test_a_stream_store_that_comes_back_is_read_on(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, polls = threading.Event(), []

    def away_once() -> None:
        polls.append(1)
        memory.down = len(polls) == 2

    memory.on_poll = away_once
    joined = memory.data.consumer

    def back(*arguments, **named):
        memory.down = False
        return joined(*arguments, **named)

    monkeypatch.setattr(memory.data, "consumer", back)
    handler = Kept(stop, until=5)
    assert run(memory, handler, stop) == 0
    assert handler.events == [b"0", b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize("where", ["python", "c"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_ends_in_time_whatever_its_handler_waits_for(number: signal.Signals, where: str) -> None:
    consumer = subprocess.Popen(
        [sys.executable, "-m", "tests.consumers.processes"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "WAITS_IN": where},
    )
    try:
        assert consumer.stdout is not None
        assert consumer.stdout.readline() == "waiting\n"
        consumer.send_signal(number)
        _, said = consumer.communicate(timeout=30)
    finally:
        consumer.kill()
    assert consumer.returncode == 1
    assert "comes again" in said
