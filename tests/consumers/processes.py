"""What test_runner.py runs as a process of its own, over a middleware in memory."""

from __future__ import annotations

import ctypes
import os
import threading

from common.settings import Settings
from common.tweets import RAW
from consumers import runner
from tests.consumers.test_runner import Kept
from tests.memory import Memory


class Waiting(Kept):
    """A handler that waits for somebody who does not come, in Python or, as clients do, in code of its own."""

    def handle(self, events: list[bytes], place: runner.Place) -> None:
        print("waiting", flush=True)
        if os.environ["WAITS_IN"] == "python":
            threading.Event().wait()
        lock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)
        lock(mutex)
        lock(mutex)  # for ever, and no signal interrupts it


def connect(settings: Settings) -> Memory:
    memory = Memory(settings)
    memory.admin.create_stream(RAW, 1)
    with memory.data.producer(RAW) as producer:
        producer.send("key", b"event")
    return memory


if __name__ == "__main__":
    runner.connect = connect  # type: ignore[attr-defined]
    runner.END_S = 0.5
    runner.main("group", RAW, lambda settings, member: Waiting(threading.Event()), 10, 0.1)
