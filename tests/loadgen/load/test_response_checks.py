from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from loadgen.load.response_checks import Wrong, check_events, check_hits, check_pushed, check_ranking


def tag(rank: int, count: int, name: str) -> dict[str, Any]:
    return {"hashtag": name, "count": count, "share": 0.1, "rank": rank, "previous_rank": None}


def ranking(*hashtags: dict[str, Any], age_s: float = 0, window: str = "1m") -> dict[str, Any]:
    as_of = datetime.fromtimestamp(time.time() - age_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"window": window, "as_of": as_of, "tweets": 10, "hashtags": list(hashtags)}


def hits(*found: tuple[str, float], query: str = "q") -> dict[str, Any]:
    return {"query": query, "hits": [{"tweet_id": tweet, "distance": distance} for tweet, distance in found]}


def test_answers_that_are_right() -> None:
    check_ranking(ranking(tag(1, 5, "a"), tag(2, 5, "b")), "1m")
    check_ranking(ranking(), "1m")
    check_hits(hits(("1", 0.1), ("2", 0.1), ("3", 0.4)), "q", 3)
    check_events({"trending", "pipeline"})


@pytest.mark.parametrize("wrong", [
    ranking(window="5m"), ranking(tag(2, 5, "a")), ranking(tag(1, 5, "a"), tag(2, 6, "b")),
    ranking(tag(1, 5, "a"), tag(2, 5, "a")), ranking(tag(1, 11, "a")), ranking(age_s=60),
])
def test_rankings_that_are_wrong(wrong: dict[str, Any]) -> None:
    with pytest.raises(Wrong):
        check_ranking(wrong, "1m")


@pytest.mark.parametrize("wrong", [
    hits(query="other"), hits(("1", 0.5), ("2", 0.1)), hits(("1", 0.1), ("1", 0.2)), hits(("1", 0), ("2", 0), ("3", 0)),
])
def test_hits_that_are_wrong(wrong: dict[str, Any]) -> None:
    with pytest.raises(Wrong):
        check_hits(wrong, "q", 2)


def test_a_stream_without_both_kinds_of_events() -> None:
    with pytest.raises(Wrong, match="none"):
        check_events(set())


def test_locust_takes_the_users_and_the_shape() -> None:
    """In a process of its own: importing Locust changes how threads work."""
    command = [sys.executable, "-m", "locust", "-f", "loadgen/locustfile.py,loadgen/locust_search.py", "--list"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    for name in ("Viewer", "Listener", "Searcher", "TweetPusher"):
        assert name in result.stdout + result.stderr


def test_without_an_instance_locust_does_not_push_without_a_token() -> None:
    command = [sys.executable, "-m", "locust", "-f", "loadgen/locustfile.py", "--headless", "--users", "1"]
    environment = {**os.environ, "MURMUR_INSTANCE": "test-nobody"}
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert result.returncode == 1
    assert "there is no instance test-nobody yet" in result.stderr


def test_a_batch_is_accepted_whole() -> None:
    check_pushed(200, 50, 50, "default")
    with pytest.raises(Wrong, match="49 of 50 tweets were accepted, with status 200"):
        check_pushed(200, 49, 50, "default")
    with pytest.raises(Wrong, match="0 of 50 tweets were accepted, with status 503"):
        check_pushed(503, 0, 50, "default")


@pytest.mark.parametrize("status", [401, 403])
def test_a_token_that_is_refused_is_named_with_the_way_out(status: int) -> None:
    with pytest.raises(Wrong, match=r"token of instance 'other' is refused: set MURMUR_INSTANCE"):
        check_pushed(status, 0, 50, "other")
