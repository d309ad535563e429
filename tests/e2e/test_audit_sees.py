"""The audit can see a repeat at each stage: one is injected, behind the back of the parts that prevent it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import orjson
import pytest

from audit import consumer_groups
from common.settings import Settings
from common.tweets import STREAMS, TOTAL
from middleware.driver import Middleware
from middleware.registry import connect
from search.encoder import DIMENSIONS
from search.index import Index
from search.milvus_rows import IndexRows
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.every_middleware]

RUN = "repeats"


@pytest.fixture(scope="module")
def settings(stack: Stack) -> Settings:
    return stack.settings()


@pytest.fixture(scope="module")
def middleware(settings: Settings) -> Iterator[Middleware]:
    with connect(settings) as connection:
        yield connection


@pytest.fixture(scope="module", autouse=True)
def run(stack: Stack) -> None:
    stack.ingest("--source", "synthetic", "--rate", "200", "--limit", "200", "--run", RUN)
    assert duplicated(stack) == dict.fromkeys(("published", "enriched", "ranked", "stored", "indexed"), 0)


def duplicated(stack: Stack) -> dict[str, int]:
    stages = stack.audit("--run", RUN)
    assert not any(stage["missing"] for stage in stages.values()), stages
    return {name: stage["duplicated"] for name, stage in stages.items()}


def first_event(middleware: Middleware, stream: str, run: str = RUN) -> bytes:
    group = f"inject-{stream}"
    try:
        with middleware.data.consumer(stream, group, start="head") as consumer:
            while events := consumer.poll(10_000, timeout=5):
                for event in events:
                    if f'"{run}"'.encode() in event:
                        return event
    finally:
        middleware.admin.forget_group(stream, group)
    raise AssertionError(f"no event of {run} in {stream}")


def inject(middleware: Middleware, stream: str, event: bytes) -> None:
    with middleware.data.producer(stream) as producer:
        producer.send("repeat", event)
        producer.flush()


def test_in_the_index(stack: Stack, settings: Settings) -> None:
    (row,) = stack.rows("SELECT tweet_id, position, lang, created_at_us FROM tweets WHERE run = ? LIMIT 1", RUN)
    tweet_id, position, lang, created_at_us = row
    index = Index.open(settings)
    index.insert([
        IndexRows.of([tweet_id], [position], np.full((1, DIMENSIONS), DIMENSIONS**-0.5), [lang], [created_at_us])
    ])
    index.close()
    assert duplicated(stack)["indexed"] == 1


def test_in_the_database(stack: Stack) -> None:
    """The same event under another tweet id: the primary key itself forbids the same id twice."""
    with sqlite3.connect(stack.status()["database"]["path"]) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(tweets)")]
        changed = {"tweet_id": "5", "position": "(SELECT max(position) + 1 FROM tweets)"}
        values = ", ".join(changed.get(column, column) for column in columns)
        database.execute(f"INSERT INTO tweets SELECT {values} FROM tweets WHERE run = ? LIMIT 1", (RUN,))
    assert duplicated(stack)["stored"] == 1


def test_in_the_rankings(stack: Stack, middleware: Middleware) -> None:
    tweet = orjson.loads(first_event(middleware, "tweets-enriched"))
    count = next(c for c in counts(middleware) if c["bucket_start"] * 1_000_000 <= tweet["ingest"]["sent_at_us"]
                 < (c["bucket_start"] + 5) * 1_000_000)
    inject(middleware, "hashtag-counts", json.dumps(count | {"count": count["count"] + 1}).encode())
    stack.wait_for_count(count["bucket_start"], TOTAL, count["count"] + 1)
    assert duplicated(stack)["ranked"] == 1


def counts(middleware: Middleware) -> list[dict]:
    """The last count of each bucket's total."""
    group, last = "inject-counts", {}
    with middleware.data.consumer("hashtag-counts", group, start="head") as consumer:
        while events := consumer.poll(10_000, timeout=3):
            for count in map(orjson.loads, events):
                if count.get("kind") == "bucket":  # not one that another test could not have read
                    last[count["bucket_start"]] = max(count, last.get(count["bucket_start"], count),
                                                      key=lambda c: c["count"])
    middleware.admin.forget_group("hashtag-counts", group)
    return list(last.values())


def test_the_groups_of_an_audit_that_was_killed_go_with_another(
    stack: Stack, settings: Settings, middleware: Middleware
) -> None:
    command = [sys.executable, "-m", "audit.follow", settings.instance, "head", "0"]
    environment = {**stack.environment, "MURMUR_HOME": str(settings.home)}
    folder = consumer_groups.folder(settings)
    before = set(folder.iterdir())  # the ledger's
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as killed:
        assert killed.stdout
        assert b"following" in killed.stdout.readline()
        (noted,) = set(folder.iterdir()) - before
        assert all(middleware.admin.committed(stream, noted.name) for stream in STREAMS)
        killed.kill()
    eventually("they are removed", lambda: stack.audit("--run", RUN) and not noted.exists())
    assert not any(middleware.admin.committed(stream, noted.name) for stream in STREAMS)


@pytest.mark.parametrize(("stream", "stage"), [("tweets-enriched", "enriched"), ("tweets-raw", "published")])
def test_in_a_stream(stack: Stack, middleware: Middleware, stream: str, stage: str) -> None:
    before = duplicated(stack)
    inject(middleware, stream, first_event(middleware, stream))
    eventually("the repeat is seen", lambda: duplicated(stack)[stage] == before[stage] + 1)
    assert duplicated(stack)["ranked"] == before["ranked"], "a repeat in a stream must not reach the rankings"
