"""Publishing and recovering, over a middleware in memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from common.settings import Settings
from common.telemetry.stages import read_scheduled, read_stages, read_totals
from ingest.archive import files
from ingest.manifest import ManifestWriter, read_manifests
from ingest.publisher import Publisher, Stranded
from ingest.resume import dead_runs, recover
from middleware.errors import Unreachable
from tests.ingest.over_memory import RUN, each_once, eventually, payloads, publish, seqs, settings_in
from tests.memory import Memory, MemoryProducer
from tests.search.servers import redis_server


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.resume.READY_SECONDS", 0.0)


def test_what_is_published_is_archived_and_acknowledged(
    settings: Settings, middleware: Memory, publisher: Publisher
) -> None:
    for count in (3, 0, 4):
        publish(publisher, count)
    assert seqs(middleware, RUN) == each_once(7)
    assert [entry.seq for entry in files.read(settings, RUN, 0)] == list(range(7))
    assert read_manifests(settings)[RUN].acknowledged == 7


@pytest.mark.parametrize("taken", [True, False])
def test_a_group_whose_flush_failed_is_in_the_stream_once(
    middleware: Memory, publisher: Publisher, taken: bool
) -> None:
    publish(publisher, 5)
    middleware.flush_failures.append(taken)
    publish(publisher, 5)
    assert seqs(middleware, RUN) == each_once(10)
    assert not publisher.failing


def test_of_an_outage_one_producer_is_left(middleware: Memory, publisher: Publisher, monkeypatch) -> None:
    opened: list[MemoryProducer] = []
    closed: list[MemoryProducer] = []
    monkeypatch.setattr(MemoryProducer, "__init__", recording(MemoryProducer.__init__, opened))
    monkeypatch.setattr(MemoryProducer, "close", recording(MemoryProducer.close, closed))
    publish(publisher, 5)
    middleware.flush_failures.extend([False, True, False, False])
    publish(publisher, 5)
    publish(publisher, 5)
    assert len(opened) - len(closed) == 1
    publisher.close()
    assert len(opened) == len(closed)


def recording(method: Callable[..., None], calls: list[MemoryProducer]) -> Callable[..., None]:
    def recorded(producer: MemoryProducer, *arguments: Any) -> None:
        calls.append(producer)
        method(producer, *arguments)
    return recorded


def test_a_middleware_that_stays_away_strands_the_run_which_is_recovered(
    settings: Settings, middleware: Memory, publisher: Publisher
) -> None:
    publish(publisher, 5)
    middleware.down = True
    with pytest.raises(Stranded, match="--resume"):
        publish(publisher, 5)
    assert publisher.failing
    publisher.close()
    [manifest] = dead_runs(settings)
    with pytest.raises(Unreachable):
        recover(settings, middleware, manifest)
    middleware.down = False
    [manifest] = dead_runs(settings)  # its lock is free again
    with recover(settings, middleware, manifest) as recovered:
        publish(recovered, 2)
        recovered.finish()
    assert seqs(middleware, RUN) == each_once(12)
    assert read_manifests(settings)[RUN].total == 12


def test_a_recovery_that_failed_half_way_is_gone_on_with(
    settings: Settings, middleware: Memory, publisher: Publisher
) -> None:
    publisher.keep([5] * 5, payloads(5))
    publisher.close()
    middleware.flush_failures.extend([False, True])
    [manifest] = dead_runs(settings)
    stop = threading.Event()
    stop.set()  # so that nothing is tried again
    with pytest.raises(Stranded):
        recover(settings, middleware, manifest, stop)
    [manifest] = dead_runs(settings)
    with pytest.raises(Stranded):
        recover(settings, middleware, manifest, stop)
    [manifest] = dead_runs(settings)
    recover(settings, middleware, manifest).close()
    assert seqs(middleware, RUN) == each_once(5)


def test_a_run_that_died_before_it_archived_anything_is_recovered(settings: Settings, middleware: Memory) -> None:
    ManifestWriter.create(settings, RUN, "test", {}).close()
    [manifest] = dead_runs(settings)
    with recover(settings, middleware, manifest) as publisher:
        publish(publisher, 2)
        publisher.finish()
    assert read_manifests(settings)[RUN].total == 2


def test_nothing_is_tried_again_once_it_is_to_stop(settings: Settings, middleware: Memory) -> None:
    stop = threading.Event()
    stop.set()
    with Publisher(settings, middleware, ManifestWriter.create(settings, RUN, "test", {}), stop=stop) as publisher:
        middleware.flush_failures.append(False)
        with pytest.raises(Stranded):
            publish(publisher, 1)


def test_an_archive_that_holds_a_key_which_no_middleware_takes_is_recovered(
    settings: Settings, middleware: Memory
) -> None:
    stamp = b'{"ingest":{"sent_at_us":5,"source":"http","run":"run-1","seq":%d},"payload":%b}\n'
    bodies = [rb'{"data":{"id":"0"}}', rb'{"data":{"id":"1","author_id":"\ud800"}}', rb'{"data":{"id":"2"}}']
    ManifestWriter.create(settings, RUN, "http", {}).close()
    folder = settings.archive_dir / RUN
    folder.mkdir(parents=True)
    (folder / "000000000000.jsonl").write_bytes(b"".join(stamp % it for it in enumerate(bodies)))
    [manifest] = dead_runs(settings, "http")
    with recover(settings, middleware, manifest) as publisher:
        publisher.finish()
    assert seqs(middleware, RUN) == each_once(3)
    assert read_manifests(settings)[RUN].total == 3


def test_two_runs_of_one_source_at_once_add_up_in_every_counter(tmp_path: Path, middleware: Memory) -> None:
    with redis_server(tmp_path) as url, Redis.from_url(url) as client, ExitStack() as both:
        settings = settings_in(tmp_path).model_copy(update={"redis_url": url})
        for run in ("run-1", "run-2"):
            manifest = ManifestWriter.create(settings, run, "synthetic", {})
            publisher = both.enter_context(Publisher(settings, middleware, manifest))
            publisher.publish([time.time_ns() // 1000] * 30, payloads(30))
        prefix = settings.redis_prefix
        assert eventually(lambda: read_totals(client, prefix).get("published", {}).get("total") == 60)
        both.close()
        stage = read_stages(client, prefix, time.time())["published"]
        assert (stage.total, sum(count for _, _, count in stage.spans)) == (60, 60)
        now = int(time.time())
        assert read_scheduled(client, prefix, now - 60, now + 1)["published"].get_total_count() == 60
