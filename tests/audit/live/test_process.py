"""The process itself, with a real Redis and a real database; Milvus is away."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from audit.live import process, streams
from common.experiments import experimenting
from common.telemetry import ledger
from common.telemetry.ledger import Ledger
from ingest.manifest import ManifestWriter
from tests.audit.live.scene import GROUPS, Scene, stage
from tests.memory import Memory
from tests.search.servers import redis_server


@pytest.fixture
def redis(scene: Scene, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    monkeypatch.setattr(streams, "connect", lambda settings: Memory(settings, scene.memory.logs))
    monkeypatch.setattr(streams, "READERS", GROUPS)
    monkeypatch.setattr(process, "WRITE_S", 0.05)
    for every in ("LOOK_S", "STREAMS_S"):
        monkeypatch.setattr(process, every, 0.05)
    scene.settings.instance_dir.mkdir(parents=True, exist_ok=True)
    with redis_server(tmp_path_factory.mktemp("redis")) as address, Redis.from_url(address) as client:
        scene.settings = scene.settings.model_copy(update={"redis_url": address, "milvus_uri": "http://127.0.0.1:9"})
        yield client


@pytest.fixture
def kept(scene: Scene, redis: Redis) -> Iterator[Callable[[str, Callable[[Ledger], bool]], Ledger]]:
    """The ledger, once it is as wished."""
    stop = threading.Event()
    thread = threading.Thread(target=process.keep, args=(scene.settings, stop))
    thread.start()

    def once(what: str, wished: Callable[[Ledger], bool]) -> Ledger:
        until = time.monotonic() + 120
        while not wished(found := ledger.read(redis, scene.settings.redis_prefix)):
            assert time.monotonic() < until, f"{what}: {found}"
            time.sleep(0.05)
        return found

    yield once
    stop.set()
    thread.join()


def test_it_is_kept_written_anew_and_off_while_an_experiment_runs(
    scene: Scene, redis: Redis, kept: Callable[[str, Callable[[Ledger], bool]], Ledger]
) -> None:
    scene.flow("a", 10)
    with ManifestWriter.create(scene.settings, "a", "test", {}) as manifest:
        manifest.acknowledged(11)
    scene.pass_all()
    found = kept("one is lost", lambda ledger: stage(ledger, "enriched")["lost"] == 1)
    assert (found["state"], found["acknowledged"]) == ("differs", 11)
    assert [one["accounted"] for one in found["stages"]] == [10, None, None, None]  # no rankings, no index
    redis.flushall()
    kept("it is there again", lambda ledger: ledger["acknowledged"] == 11)
    with experimenting(scene.settings):
        kept("it is off", lambda ledger: ledger["state"] == "off")
    kept("it is on", lambda ledger: stage(ledger, "enriched")["lost"] == 1)
