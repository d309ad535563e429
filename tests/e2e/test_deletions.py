"""Deletions through a whole instance: what they reach is shown nowhere any more, and every event is accounted for."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import requests

from search.index import Index
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

POSTS = 60
LONG_S = 3600
"""How long a search stays cached: longer than the test."""


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack("test-deletions", MURMUR_SEARCH_CACHE_S=str(LONG_S)).running() as running:
        yield running


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())


def author(number: int) -> str:
    return f"did:plc:{number % 6}"


def post(number: int) -> dict[str, Any]:
    return {"id": str(number), "author_id": author(number), "created_at": now(), "lang": "eo",
            "text": f"a storm warning for the coast, number {number}", "url": f"https://example.org/post/{number}"}


def deletion(number: int) -> dict[str, Any]:
    return {"delete": {"event_at": now(), "tweet": {"id": str(number), "author_id": author(number)}}}


def account_deletion(author_id: str) -> dict[str, Any]:
    return {"user_delete": {"event_at": now(), "user": {"id": author_id}}}


def push(stack: Stack, *payloads: dict[str, Any]) -> None:
    body = b"\n".join(json.dumps({"data": data}).encode() for data in payloads)
    answer = requests.post(
        f"{stack.url}/api/v1/tweets", data=body, timeout=30,
        headers={"Authorization": f"Bearer {stack.settings().ingest_token}", "Content-Type": "application/x-ndjson"})
    assert (answer.status_code, answer.json()["accepted"]) == (200, len(payloads)), answer.text


def shown(stack: Stack) -> set[int]:
    hits = stack.get("search", q="storm warning coast", lang="eo", limit=100)["hits"]
    assert all(hit["url"] == f"https://example.org/post/{hit['tweet_id']}" for hit in hits)
    assert {hit["source"] for hit in hits} <= {"http"}
    return {int(hit["tweet_id"]) for hit in hits}


def indexed(stack: Stack) -> set[int]:
    with closing(Index.open(stack.settings())) as index:
        return set(index.ids())


def with_text(stack: Stack) -> set[int]:
    return {tweet_id for tweet_id, in stack.rows("SELECT tweet_id FROM tweets WHERE text <> '' OR url <> ''")}


def audit(stack: Stack) -> dict[str, dict[str, int]]:
    stages = stack.audit(timeout=180)
    assert {name: (stage["missing"], stage["duplicated"]) for name, stage in stages.items()} == dict.fromkeys(
        ("published", "enriched", "ranked", "stored", "indexed"), (0, 0)), stages
    return stages


def test_what_is_deleted_is_shown_nowhere_and_the_audit_is_exact(stack: Stack) -> None:
    posts = {number: post(number) for number in range(1000, 1000 + POSTS)}
    push(stack, *posts.values())
    eventually("all are stored", lambda: with_text(stack) == posts.keys(), 120)
    eventually("all are in the index", lambda: indexed(stack) == posts.keys(), 60)
    assert shown(stack) == posts.keys()  # the first search, so that it is none of before
    assert stack.get("search", q="storm warning coast", lang="eo", limit=100)["cached"] is True
    assert stack.get("pipeline")["source"] == "http"

    gone = set(range(1000, 1010))
    push(stack, *map(deletion, gone))
    eventually("the cached search shows them no more", lambda: not shown(stack) & gone, 60)
    assert with_text(stack) == posts.keys() - gone

    of_author = {number for number in posts if author(number) == author(1011)}
    push(stack, account_deletion(author(1011)), deletion(1012), deletion(5_000))
    stack.kill("search")
    gone |= of_author | {1012}
    eventually("nor what the account had", lambda: not shown(stack) & gone and shown(stack), 120)
    eventually("nor does the index have it", lambda: indexed(stack) == posts.keys() - gone, 60)
    assert with_text(stack) == posts.keys() - gone

    push(stack, *(posts[number] for number in sorted(gone)))  # as a replay would
    stages = audit(stack)
    events = POSTS + len(gone) + 10 + 3
    assert {stages[name]["expected"] for name in ("published", "enriched", "stored", "indexed")} == {events}
    assert stages["stored"]["already_known"] == len(gone)
    assert stages["indexed"]["forgotten"] == len(gone) + 13
    assert (with_text(stack), indexed(stack)) == (posts.keys() - gone,) * 2

    told = json.loads(stack.murmur("forget", "--source", "http", "--yes", "--json"))
    assert told["tweets"] == len(posts.keys() - gone)
    assert len(told["going_on"]) == 1
    assert (shown(stack), indexed(stack), with_text(stack)) == (set(), set(), set())
    assert audit(stack)["indexed"]["forgotten"] == POSTS + 13
