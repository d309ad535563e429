"""`murmur forget` on a real Milvus Lite, Redis and SQLite, which go on working meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from click.testing import CliRunner

from cli import forget as forget_module
from cli.main import murmur
from common.settings import Settings
from common.tweets import Ingest, to_json
from consumers.search import Search
from deploy.local import state
from ingest.archive.writing import Archive
from ingest.manifest import ManifestWriter
from ingest.sources.base import examine
from ingest.stamp import Stamper
from search import cached_results
from search.index import Index
from search.store import Store
from tests.memory import Memory
from tests.search.samples import tweet
from tests.search.servers import MilvusServer, free_port, redis_server


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MURMUR_HOME", str(tmp_path))
    monkeypatch.delenv("MURMUR_SETTINGS", raising=False)
    return tmp_path


def saved(home: Path, **other: Any) -> Settings:
    """An instance that was started once."""
    settings = Settings(home=home, instance="one", **other)
    settings.save()
    state.record(settings)
    return settings


def run(*words: str) -> Any:
    return CliRunner().invoke(murmur, ["forget", "--instance", "one", *words])


def test_it_wants_a_source_and_asks(alone: Path) -> None:
    saved(alone, redis_url=f"redis://127.0.0.1:{free_port()}/0")
    assert "--source" in run("--yes").output
    assert "--yes" in run("--source", "bluesky").output
    assert "--yes" in run("--source", "bluesky", "--json").output


def test_a_server_that_is_away_is_named_with_the_way_out(alone: Path) -> None:
    saved(alone, redis_url=f"redis://127.0.0.1:{free_port()}/0", milvus_uri=f"http://127.0.0.1:{free_port()}")
    result = run("--source", "bluesky", "--yes")
    assert result.exit_code == 1
    assert "murmur status" in result.output


def archived(settings: Settings, run: str, source: str) -> ManifestWriter:
    manifest = ManifestWriter.create(settings, run, source, {})
    archive, stamper = Archive(settings, run, source), Stamper(source, run, 1 << 20)
    archive.append([stamper.line(0, 5, examine(b"{}"))], 0)
    archive.close()
    manifest.acknowledged(1)
    return manifest


@pytest.mark.server
class TestForget:
    @pytest.fixture
    def settings(self, alone: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
        server = MilvusServer(tmp_path_factory.mktemp("milvus"))
        server.start()
        encoder = Settings(home=Path(__file__).parents[2] / ".murmur").encoder_dir
        (alone / "encoder").symlink_to(encoder)
        with redis_server(tmp_path_factory.mktemp("redis")) as url:
            yield saved(alone, redis_url=url, milvus_uri=server.uri, index_max_rows=100)
        server.kill()

    @pytest.fixture
    def consumer(self, settings: Settings) -> Iterator[Search]:
        made = Search(settings, "0", lambda _: Memory(settings))
        yield made
        made.close()

    @staticmethod
    def events(*ids: int) -> list[bytes]:
        return [to_json(tweet(n, f"a text {n}", ingest=Ingest(1, "bluesky" if n % 2 else "http", "r", n)))
                for n in ids]

    def test_a_source_leaves_database_index_cache_and_archive(self, settings: Settings, consumer: Search) -> None:
        for start in range(0, 300, 30):  # the index keeps the newest of them
            consumer.handle(self.events(*range(start, start + 30)), str)
        archived(settings, "ended", "bluesky").close()
        archived(settings, "http-1", "http").close()
        with redis.Redis.from_url(settings.redis_address) as client, archived(settings, "alive", "bluesky"):
            before = cached_results.generation(client, settings.redis_prefix)
            result = run("--source", "bluesky", "--yes", "--json")
            assert result.exit_code == 0, result.output
            assert cached_results.generation(client, settings.redis_prefix) > before
        told = json.loads(result.output)
        assert (told["source"], told["tweets"], told["archive_files"]) == ("bluesky", 150, 1)
        assert (told["going_on"], len(told["remains"])) == (["alive"], 4)
        rows = Store.open(settings).get(range(300))
        assert {n for n, row in rows.items() if row.forgotten} == set(range(1, 300, 2))
        assert all(bool(row.text) is not row.forgotten for row in rows.values())
        ids = set(Index.open(settings).ids())
        assert ids
        assert ids <= set(range(0, 300, 2))
        assert {path.name for path in settings.archive_dir.iterdir()} == {"alive", "http-1"}
        consumer.handle(self.events(1, 299, 301), str)  # a replay brings nothing back; what is new comes in
        assert set(Index.open(settings).ids()) - ids == {301}
        again = run("--source", "bluesky", "--yes")
        assert "forgotten: 1 tweets of bluesky" in again.output
        assert "stream_retention_bytes" in again.output

    def test_a_call_that_died_is_finished_by_the_next(
        self, settings: Settings, consumer: Search, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        consumer.handle(self.events(*range(20)), str)

        def die(*_: object) -> None:
            raise ConnectionError("killed")

        with monkeypatch.context() as dying:
            dying.setattr(forget_module.Index, "remove", die)
            assert run("--source", "bluesky", "--yes").exit_code == 1
        assert 1 in Index.open(settings).ids()
        assert run("--source", "bluesky", "--yes").exit_code == 0
        assert set(Index.open(settings).ids()) == set(range(0, 20, 2))
