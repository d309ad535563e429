"""A consumer in a process of its own that handles what it polls until it is told to commit, by a line on stdin.

Usage: python -m tests.conformance.waiting SETTINGS STREAM GROUP MEMBER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from common.settings import Settings
from middleware.registry import connect


def main(settings: str, stream: str, group: str, member: str) -> None:
    with (
        connect(Settings(**json.loads(Path(settings).read_text()))) as middleware,
        middleware.data.consumer(stream, group, member) as consumer,
    ):
        events: list[bytes] = []
        while not events:
            events = consumer.poll(1, timeout=1)
        print("polled", flush=True)
        sys.stdin.readline()
        print("committed" if consumer.commit() else "refused", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
