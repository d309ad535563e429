from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from pymilvus import MilvusClient
from redis import Redis

from common.settings import Port, Settings
from common.telemetry.reports import StageTelemetry
from common.text import clean_text
from common.tweets import Ingest
from search import cached_results
from search.encoder import DIMENSIONS, Encoder
from search.index import Index
from search.milvus_rows import IndexRows
from search.query import TweetSearch
from search.store import Store
from tests.search.samples import tweet
from tests.web.conftest import free_port
from web import create_app

ENCODER = Settings(home=Path(__file__).parents[2] / ".murmur").encoder_dir
needs_encoder = pytest.mark.skipif(not ENCODER.exists(), reason="the encoder is made by set-up")

MORNING = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
TWEETS = [
    (2**62 + 1, "en", "the goalkeeper saved a penalty in the last minute of the cup final"),
    (2**62 + 2, "en", "simmer the tomatoes with garlic and basil, then add the pasta @cook https://t.co/x"),
    (2**62 + 3, "de", "heavy rain and strong wind, the river is about to flood"),
]


@pytest.mark.parametrize(("query", "field"), [
    ("", "q"),
    ("q=", "q"),
    ("q=%20%09", "q"),
    ("q=%00", "q"),
    ("q=https://t.co/x%20@someone", "q"),
    ("q=" + "x" * 513, "q"),
    ("q=" + "x" * 10_000, "q"),
    ("q=a&limit=0", "limit"),
    ("q=a&limit=101", "limit"),
    ("q=a&limit=ten", "limit"),
    ("q=a&lang=%22%20or%201", "lang"),
    ("q=a&lang=e", "lang"),
    ("q=a&since=yesterday", "since"),
    ("q=a&since=1700000000", "since"),
    ("q=a&since=2026-11-21T08:00:00", "since"),
    ("q=a&since=2026-13-21T08:00:00Z", "since"),
    ("q=a&until=1700000000", "until"),
    ("q=a&tag=", "tag"),
    ("q=a&tag=%23", "tag"),
    ("q=a&tag=2026", "tag"),
    ("q=a&tag=" + "x" * 141, "tag"),
    ("q=a&tag=" + "x" * 6000, "tag"),
    ("q=a&q=b", "q"),
    ("q=a&limit=1_0", "limit"),
    ("q=a&page=2", "page"),
])
def test_a_wrong_parameter_is_named(client: FlaskClient, query: str, field: str) -> None:
    response = client.get(f"/api/v1/search?{query}")
    assert (response.status_code, response.mimetype) == (400, "application/problem+json")
    assert [error["field"] for error in response.json["errors"]] == [field]
    assert "Value error" not in response.json["detail"]


def test_without_an_encoder(client: FlaskClient) -> None:
    response = client.get("/api/v1/search?q=football")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
    assert "encoder" in response.json["detail"]


@needs_encoder
def test_without_an_index(client: FlaskClient, settings: Settings) -> None:
    settings.encoder_dir.symlink_to(ENCODER)
    response = client.get("/api/v1/search?q=football")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
    assert "index" in response.json["detail"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("search")
    (home / "encoder").symlink_to(ENCODER)
    return home


@pytest.fixture(scope="module")
def milvus(home: Path) -> Iterator[str]:
    port = free_port()
    environment = os.environ | {"MURMUR_HOME": str(home), "MURMUR_PORT_BASE": str(port - Port.MILVUS)}
    server = subprocess.Popen([sys.executable, "-m", "deploy.local.milvus.lite_server"], env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address)
        yield address
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="module")
def indexed(home: Path, milvus: str) -> Settings:
    settings = Settings(home=home, milvus_uri=milvus, database_url=f"sqlite:///{home / 'tweets.db'}")
    store, index = Store.open(settings), Index.open(settings)
    stored = store.insert([
        tweet(
            tweet_id, text, created_at=f"2026-11-21T0{7 + n}:00:00.000Z", lang=lang,
            hashtags=["a", "日本"] if n else ["a"],
            ingest=Ingest(0, "test", "r", n), url="https://example.org/b" if n == 1 else "",
        )
        for n, (tweet_id, lang, text) in enumerate(TWEETS)
    ])
    vectors = Encoder.load(settings.encoder_dir).encode([clean_text(text) for _, _, text in TWEETS])
    ids, langs, _ = zip(*TWEETS, strict=True)
    times = [int((7 + n) * 3600e6 + day_us()) for n in range(len(TWEETS))]
    index.insert([IndexRows.of(ids, [stored.positions[tweet_id] for tweet_id in ids], vectors, langs, times)])
    store.close()
    index.close()
    return settings


@pytest.mark.server
@needs_encoder
class TestIndexed:
    """Three tweets are in the database and in a real Milvus Lite."""

    @pytest.fixture
    def app(self, indexed: Settings, redis: Redis, redis_server: str) -> APIFlask:
        return create_app(indexed.model_copy(update={"redis_url": redis_server}))

    def test_all_is_ready(self, client: FlaskClient) -> None:
        response = client.get("/readyz")
        assert (response.status_code, response.json["ready"]) == (200, True)

    def test_a_tweet_is_found_by_its_text(self, client: FlaskClient) -> None:
        body = client.get("/api/v1/search", query_string={"q": TWEETS[1][2]}).json
        assert body["query"] == TWEETS[1][2]
        first = body["hits"][0]
        assert first["distance"] == pytest.approx(0, abs=1e-4)
        assert first | {"distance": 0} == {
            "tweet_id": str(2**62 + 2), "text": TWEETS[1][2], "created_at": "2026-11-21T08:00:00Z", "author_id": "7",
            "lang": "en", "hashtags": ["a", "日本"], "source": "test", "url": "https://example.org/b", "distance": 0,
        }

    def test_what_is_not_known_of_a_hit_is_null(self, client: FlaskClient) -> None:
        assert client.get("/api/v1/search", query_string={"q": TWEETS[0][2]}).json["hits"][0]["url"] is None

    def test_nearest_first(self, client: FlaskClient) -> None:
        hits = client.get("/api/v1/search?q=football+match").json["hits"]
        assert hits[0]["tweet_id"] == str(2**62 + 1)
        assert [hit["distance"] for hit in hits] == sorted(hit["distance"] for hit in hits)

    @pytest.mark.parametrize(("query", "found"), [
        ("limit=1", 1), ("lang=de", 1), ("lang=fr", 0), ("since=2026-11-21T08:00:00Z", 2),
        ("since=2026-11-21T10:00:00%2B01:00", 1), ("since=2099-01-01T00:00:00Z", 0),
        ("until=2026-11-21T08:00:00Z", 2), ("since=2026-11-21T08:00:00Z&until=2026-11-21T08:00:00Z", 1),
        ("tag=a", 3), ("tag=%23A", 3), ("tag=日本", 2), ("tag=日本&lang=de", 1), ("tag=日", 0), ("tag=日本&limit=1", 1),
        ("tag=日本&until=2026-11-21T07:00:00Z", 0),
    ])
    def test_filters(self, client: FlaskClient, query: str, found: int) -> None:
        assert len(client.get(f"/api/v1/search?q=weather&{query}").json["hits"]) == found

    def test_fewer_tweets_of_a_hashtag_than_it_has_are_told(
        self, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def ask(tag: str) -> dict:
            return client.get("/api/v1/search", query_string={"q": "weather report", "tag": tag}).json

        assert ask("a")["bounded"] is False
        monkeypatch.setattr("search.query.MOST_TAGGED", 1)
        assert ask("日本")["bounded"] is True
        monkeypatch.setattr("search.query.TAGGED_ROWS", 1)
        body = ask("#A")
        assert body["cached"] is True
        body = ask("none")
        assert (body["hits"], body["bounded"]) == ([], True)

    def test_it_tells_where_the_time_went(self, client: FlaskClient) -> None:
        first, again = (client.get("/api/v1/search?q=the+time").json for _ in range(2))
        assert set(first["spent_ms"]) == {"cache", "encode", "index", "rows"}
        assert 0 < sum(first["spent_ms"].values()) <= first["took_ms"]
        assert again["spent_ms"] | {"cache": 0} == {"cache": 0, "encode": None, "index": None, "rows": None}

    def test_it_tells_how_new_the_index_is(self, client: FlaskClient, redis_server: str, redis: Redis) -> None:
        assert client.get("/api/v1/search?q=nothing+known").json["newest_at"] is None
        telemetry = StageTelemetry(redis_server, "murmur:default:pravega:", "searchable", "search-1")
        telemetry.record([1_795_000_000_000_000, 1_794_000_000_000_000])
        telemetry.save()
        telemetry.close()
        assert client.get("/api/v1/search?q=something+known").json["newest_at"] == "2026-11-18T11:06:40Z"

    @pytest.mark.parametrize("query", [
        "日本の天気", "🌧️", "a\0b", "x" * 512, "\udce4", "%ff", "'; DROP TABLE tweets", '"',
    ])
    def test_any_text_is_searched(self, client: FlaskClient, query: str) -> None:
        encoded = query.encode("utf-8", "surrogatepass")
        assert client.get("/api/v1/search", query_string={"q": encoded}).status_code == 200

    def test_a_result_is_cached_by_what_is_searched(self, client: FlaskClient, redis: Redis) -> None:
        def ask(**query: object) -> dict:
            return client.get("/api/v1/search", query_string=query).json

        first, again = ask(q="rain"), ask(q=" rain\n@someone")
        assert (first["cached"], again["cached"]) == (False, True)
        assert (first["hits"], again["query"]) == (again["hits"], " rain\n@someone")
        assert ask(q="rain", limit=2)["cached"] is ask(q="rain", lang="en")["cached"] is False
        assert ask(q="rain", tag="a")["cached"] is ask(q="rain", until="2026-11-21T08:00:00Z")["cached"] is False
        keys = list(redis.scan_iter("murmur:default:pravega:search:*"))
        assert len(keys) == 5
        assert all(0 < redis.ttl(key) <= 30 for key in keys)

    def test_no_result_of_before_something_was_forgotten_is_shown(
        self, client: FlaskClient, redis: Redis, indexed: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nor one that was looked for before, and came into the cache afterwards."""
        def is_cached() -> bool:
            return client.get("/api/v1/search?q=rain").json["cached"]

        assert [is_cached(), is_cached()] == [False, True]
        cached_results.outdate(redis, indexed.redis_prefix)
        search = TweetSearch.search

        def overtaken(*arguments: Any) -> Any:
            hits = search(*arguments)
            cached_results.outdate(redis, indexed.redis_prefix)
            return hits

        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(TweetSearch, "search", overtaken)
            assert is_cached() is False
        assert [is_cached(), is_cached()] == [False, True]

    def test_a_hit_that_was_just_forgotten_is_not_shown(self, client: FlaskClient, indexed: Settings) -> None:
        """Though the index still has it."""
        store = Store.open(indexed)
        store.insert([tweet(77, "a text", ingest=Ingest(0, "test", "r", 77)),
                      tweet(78, "", late=True, deletes="tweet", deleted_id=77)])
        index = Index.open(indexed)
        index.upsert([IndexRows.of([77], [store.positions([77])[77]], np.eye(1, DIMENSIONS, dtype=np.float32), ["en"],
                                   [0])])
        assert 77 in index.ids()
        hits = client.get("/api/v1/search?q=anything&limit=100").json["hits"]
        assert {hit["tweet_id"] for hit in hits} == {str(tweet_id) for tweet_id, _, _ in TWEETS}
        index.remove(store.positions([77]))
        store.close()
        index.close()

    def test_redis_away_means_no_cache(self, indexed: Settings) -> None:
        away = indexed.model_copy(update={"redis_url": f"redis://127.0.0.1:{free_port()}/0"})
        client = create_app(away).test_client()
        for _ in range(2):
            body = client.get("/api/v1/search?q=rain").json
            assert (body["cached"], len(body["hits"])) == (False, 3)


def day_us() -> int:
    return int(MORNING.replace(hour=0).timestamp() * 1e6)


def wait_for(address: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            MilvusClient(address, timeout=2).list_collections()
            return
        except Exception:
            if time.monotonic() > deadline:
                raise
