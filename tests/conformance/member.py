"""A consumer in a process of its own, to be killed: appends each event to a file, syncs it, then commits.

Usage: python -m tests.conformance.member SETTINGS STREAM GROUP MEMBER FILE
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from common.settings import Settings
from middleware.registry import connect


def main(settings: str, stream: str, group: str, member: str, file: str) -> None:
    # Read as the instance's processes do: an unrelated `.env` or MURMUR_* variable must not change what is tested.
    with (
        connect(Settings(**json.loads(Path(settings).read_text()))) as middleware,
        middleware.data.consumer(stream, group, member) as consumer,
        Path(file).open("ab", buffering=0) as output,
    ):
        while True:
            events = consumer.poll(100, timeout=1)
            if events:
                output.write(b"".join(event + b"\n" for event in events))
                os.fsync(output.fileno())
            consumer.commit()


if __name__ == "__main__":
    main(*sys.argv[1:])
