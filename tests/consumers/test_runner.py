import threading
import time

import pytest

from common.tweets import RAW
from consumers import runner
from consumers.runner import Retry, Stopping
from middleware.base import UnknownStream, Unreachable


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
