from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from redis import Redis

from common.settings import Settings
from common.tweets import TOTAL
from consumers.buckets import Buckets, Part
from search.store import Store
from tests.search.samples import tweet
from web import create_app
from web.hashtag import COMPLETE_AFTER_S, EVERY_S

HOSTILE = ["日本", "a/b", "<b>x</b>", "\u202eevil", "x" * 140, 'quo"te', "%2e%2e", "a&b=c"]


@pytest.mark.parametrize("path", ["course", "posts"])
@pytest.mark.parametrize(("query", "field"), [
    ("", "hashtag"), ("hashtag=", "hashtag"), ("hashtag=%23%23", "hashtag"), ("hashtag=123", "hashtag"),
    ("hashtag=" + "x" * 141, "hashtag"), ("hashtag=" + "x" * 6000, "hashtag"), ("hashtag=a&hashtag=b", "hashtag"),
    ("hashtag=a&limit=1", "limit"),
])
def test_a_wrong_parameter_is_named(client: FlaskClient, path: str, query: str, field: str) -> None:
    response = client.get(f"/api/v1/hashtag/{path}?{query}")
    assert (response.status_code, response.mimetype) == (400, "application/problem+json")
    assert [error["field"] for error in response.json["errors"]] == [field]


class TestCourse:
    """Counts that a trending consumer has raised in a real Redis."""

    @pytest.fixture
    def begin(self) -> int:
        """Of a point that is complete, as are two after it."""
        return (int(time.time()) - COMPLETE_AFTER_S) // EVERY_S * EVERY_S - 3 * EVERY_S

    @pytest.fixture
    def buckets(self, redis: Redis, settings: Settings) -> Buckets:
        buckets = Buckets(redis, settings.redis_prefix, settings.rankings_kept_s)
        assert buckets.begin_rebuild("me")
        assert buckets.end_rebuild("me", "marker")
        return buckets

    def points(self, client: FlaskClient, hashtag: str) -> list[tuple[int | None, int | None]]:
        body = client.get("/api/v1/hashtag/course", query_string={"hashtag": hashtag}).json
        assert (body["hashtag"], body["every_s"]) == (hashtag, EVERY_S)
        return [(each["tweets"], each["of"]) for each in body["points"]]

    def test_it_begins_with_the_first_counts_and_tells_unknown_from_none(
        self, client: FlaskClient, buckets: Buckets, begin: int
    ) -> None:
        buckets.raise_counts({
            Part(begin, 1, 0): {TOTAL: 10, "a": 2}, Part(begin + EVERY_S - 5, 1, 0): {TOTAL: 5, "a": 1, "b": 1},
            Part(begin + 2 * EVERY_S, 1, 0): {TOTAL: 7, "b": 1},
        }, "marker")
        shown = self.points(client, "a")[:3]  # a fourth may be complete by now
        assert shown == [(3, 15), (None, None), (0, 7)]
        body = client.get("/api/v1/hashtag/course?hashtag=a").json
        assert body["points"][0]["at"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin))

    def test_shards_are_added(self, client: FlaskClient, buckets: Buckets, begin: int) -> None:
        buckets.raise_counts(
            {Part(begin, 2, 0): {TOTAL: 4, "a": 1}, Part(begin, 2, 1): {TOTAL: 6, "a": 3}}, "marker")
        assert self.points(client, "a")[0] == (4, 10)

    @pytest.mark.parametrize("hashtag", HOSTILE)
    def test_any_hashtag_can_be_asked_for(
        self, client: FlaskClient, buckets: Buckets, begin: int, hashtag: str
    ) -> None:
        buckets.raise_counts({Part(begin, 1, 0): {TOTAL: 2, hashtag: 1}}, "marker")
        assert self.points(client, hashtag)[0] == (1, 2)

    def test_nothing_is_known(self, client: FlaskClient, buckets: Buckets) -> None:
        assert self.points(client, "a") == []

    def test_counts_that_are_not_complete_are_not_shown(self, client: FlaskClient) -> None:
        response = client.get("/api/v1/hashtag/course?hashtag=a")
        assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
        assert "built anew" in response.json["detail"]

    def test_without_redis(self, lonely: FlaskClient) -> None:
        response = lonely.get("/api/v1/hashtag/course?hashtag=a")
        assert (response.status_code, response.json["detail"]) == (503, "Redis does not answer.")


class TestPosts:
    """Tweets in SQLite."""

    @pytest.fixture
    def settings(self, redis_server: str, tmp_path: Path) -> Settings:
        return Settings(home=tmp_path, redis_url=redis_server, database_url=f"sqlite:///{tmp_path / 'tweets.db'}")

    @pytest.fixture
    def store(self, settings: Settings) -> Iterator[Store]:
        store = Store.open(settings)
        yield store
        store.close()

    def test_the_newest_and_what_stands_beside(self, client: FlaskClient, store: Store) -> None:
        beside = {1: ["a", "b"], 2: ["c"], 3: ["b", "a", "c"], 4: ["a"], 5: ["a", "b"]}
        store.insert([tweet(n, f"text {n}", hashtags=tags) for n, tags in beside.items()])
        store.insert([tweet(6, "", late=True, deletes="tweet", deleted_id=5)])
        body = client.get("/api/v1/hashtag/posts?hashtag=%23A").json
        assert [body[name] for name in ("hashtag", "rows", "tweets")] == ["a", 6, 3]
        assert body["related"] == [{"hashtag": "b", "tweets": 2}, {"hashtag": "c", "tweets": 1}]
        assert [each["text"] for each in body["newest"]] == ["text 4", "text 3", "text 1"]
        assert body["newest"][0] == {
            "tweet_id": "4", "text": "text 4", "created_at": "2026-03-01T10:00:00.250000Z", "author_id": "7",
            "lang": "en", "hashtags": ["a"], "source": "test", "url": None,
        }

    def test_no_more_rows_than_the_newest_are_looked_through(
        self, client: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("search.posts.ROWS", 4)
        store.insert([tweet(n, hashtags=["a"]) for n in range(1, 11)])
        body = client.get("/api/v1/hashtag/posts?hashtag=a").json
        assert (body["rows"], body["tweets"], len(body["newest"])) == (4, 4, 4)

    @pytest.mark.parametrize("hashtag", HOSTILE)
    def test_any_hashtag_can_be_asked_for(self, client: FlaskClient, store: Store, hashtag: str) -> None:
        store.insert([tweet(1, hashtags=[hashtag, "other"]), tweet(2, hashtags=["other"])])
        body = client.get("/api/v1/hashtag/posts", query_string={"hashtag": hashtag}).json
        assert (body["hashtag"], body["tweets"]) == (hashtag, 1)

    def test_an_empty_database(self, client: FlaskClient) -> None:
        body = client.get("/api/v1/hashtag/posts?hashtag=a").json
        assert body == {"hashtag": "a", "rows": 0, "tweets": 0, "related": [], "newest": []}

    def test_without_a_database(self, settings: Settings) -> None:
        away = settings.model_copy(update={"database_url": "postgresql+psycopg://nobody@127.0.0.1:9/none"})
        response = create_app(away).test_client().get("/api/v1/hashtag/posts?hashtag=a")
        assert response.status_code == 503
        assert "database" in response.json["detail"]
