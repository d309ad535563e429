"""A query of Spark that truncation has overtaken fails, and goes on once its checkpoint is moved."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from middleware.driver import Middleware
from middleware.readers import StreamReader
from tests.conformance.servers import Servers, operator
from tests.stack import ROOT

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]


def publish(middleware: Middleware, stream: str, first: int, end: int) -> None:
    with middleware.data.producer(stream) as producer:
        for number in range(first, end):
            producer.send(f"key-{number % 2}", b"%d" % number)


def truncate(middleware: Middleware, stream: str, count: int) -> set[int]:
    """Removes so many events from the heads of the partitions, and returns them."""
    gone: set[int] = set()
    with middleware.data.consumer(stream, "ahead") as consumer:
        while len(gone) < count:
            events = consumer.poll(count - len(gone), timeout=60)
            assert events, f"{len(gone)} of {count} events came"
            gone |= set(map(int, events))
            consumer.commit()
    position = middleware.admin.committed(stream, "ahead")
    assert position
    operator(middleware).truncate(position)
    return gone


@pytest.mark.parametrize("before", [0, 100])
def test_a_query_goes_on_once_its_checkpoint_is_moved(
    middleware: Middleware, servers: Servers, stream: str, tmp_path: Path, before: int
) -> None:
    """Whether it has completed a batch or not."""
    reader = StreamReader("enrich", stream, "query", stream)

    def run() -> int:
        command = [sys.executable, "-m", "tests.conformance.query", stream, stream, str(tmp_path / "out")]
        known = {"MURMUR_SETTINGS": str(servers.settings().settings_file), "MURMUR_HOME": str(ROOT / ".murmur")}
        with (tmp_path / "log").open("w") as log:
            return subprocess.run(command, cwd=ROOT, env={**os.environ, **known}, stdout=log, stderr=log,
                                  timeout=300).returncode

    def copied() -> list[int]:
        """Of the files that its batches have committed: one that failed may have left others."""
        entries = [line for log in tmp_path.glob("out/_spark_metadata/[0-9]*") for line in log.read_text().split()[1:]]
        files = [Path(urlsplit(json.loads(entry)["path"]).path) for entry in entries]
        return sorted(int(line) for file in files for line in file.read_text().split())

    assert reader.position(middleware) is None
    publish(middleware, stream, 0, before)
    assert run() == 0, (tmp_path / "log").read_text()[-5000:]
    assert copied() == list(range(before))
    publish(middleware, stream, before, 200)
    gone = truncate(middleware, stream, 150)
    assert run() != 0
    assert copied() == list(range(before))

    head, stands = middleware.data.head(stream), reader.position(middleware)
    assert stands
    assert stands.lies_before(head)
    reader.move(middleware, head)
    moved = reader.position(middleware)
    assert moved
    assert not moved.lies_before(head)
    assert run() == 0, (tmp_path / "log").read_text()[-5000:]
    assert copied() == sorted({*range(before), *range(200)} - (gone - set(range(before))))
