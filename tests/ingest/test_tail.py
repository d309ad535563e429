"""Where a source goes on, by the archive."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from common.settings import Settings
from ingest.archive import files
from ingest.manifest import ManifestWriter
from ingest.publisher import Publisher
from ingest.sources.base import Payload, examine
from ingest.stamp import Archived
from ingest.tail import last_run_us, tail
from tests.memory import Memory


def payloads(count: int, first: int = 0) -> list[Payload]:
    return [examine(b'{"data":{"id":"%d"}}' % n)._replace(position=f"at {n}") for n in range(first, first + count)]


def run(settings: Settings, middleware: Memory, name: str, source: str, sent: list[Payload], *groups: int) -> None:
    with Publisher(settings, middleware, ManifestWriter.create(settings, name, source, {})) as publisher:
        for first, end in zip((0, *groups), (*groups, len(sent)), strict=True):
            publisher.publish([5] * (end - first), sent[first:end])
        publisher.finish()


def test_the_last_ones_of_all_runs_of_that_source_come_in_order(settings: Settings, middleware: Memory) -> None:
    assert tail(settings, "one", 10) == []
    run(settings, middleware, "a", "one", payloads(20))
    run(settings, middleware, "b", "other", payloads(5, 900))
    run(settings, middleware, "c", "one", payloads(5, 20))
    assert tail(settings, "one", 8) == payloads(8, 17)
    assert tail(settings, "one", 100) == payloads(25)


def test_a_run_that_brought_nothing_is_passed_over(settings: Settings, middleware: Memory) -> None:
    run(settings, middleware, "a", "one", payloads(3))
    ManifestWriter.create(settings, "b", "one", {}).close()
    assert tail(settings, "one", 2) == payloads(2, 1)


def test_a_file_that_is_compressed_while_it_is_looked_for_is_found(
    settings: Settings, middleware: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(settings, middleware, "a", "one", payloads(3))
    read, times = files.read, [0]

    def gone_once(*arguments: Any) -> Iterator[Archived]:
        times[0] += 1
        if times[0] == 1:
            raise FileNotFoundError("a")
        yield from read(*arguments)

    monkeypatch.setattr(files, "read", gone_once)
    assert tail(settings, "one", 2) == payloads(2, 1)


def test_when_a_source_was_at_work_for_the_last_time(settings: Settings, middleware: Memory) -> None:
    assert last_run_us(settings, "one") is None
    ManifestWriter.create(settings, "begun", "one", {}).close()
    assert last_run_us(settings, "one") is None
    before = time.time_ns() // 1000
    run(settings, middleware, "a", "one", payloads(3))
    found = last_run_us(settings, "one")
    assert found is not None
    assert before - 1_000_000 <= found
    assert last_run_us(settings, "other") is None


@pytest.mark.parametrize("torn", [0, 1])
def test_what_was_archived_and_not_acknowledged_counts(
    settings: Settings, middleware: Memory, tmp_path: Path, torn: int
) -> None:
    """The last line may have been cut off by the end of the process: it belongs to no event."""
    with Publisher(settings, middleware, ManifestWriter.create(settings, "a", "one", {})) as publisher:
        publisher.keep([5] * 9, payloads(9))
    [file] = (settings.archive_dir / "a").iterdir()
    file.write_bytes(file.read_bytes()[:-torn or None])
    assert tail(settings, "one", 3) == payloads(3, 6 - torn)


def test_payloads_without_a_position_are_none_to_go_on_from(settings: Settings, middleware: Memory) -> None:
    run(settings, middleware, "a", "one", [*payloads(2), examine(b"{}")])
    assert tail(settings, "one", 2) == payloads(1, 1)
