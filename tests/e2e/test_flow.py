"""Tweets through the whole stack. The tests share one instance; each holds alone and in any order."""

from __future__ import annotations

import base64
import json
import os
import signal
import time
from collections import Counter
from pathlib import Path
from statistics import median

import pytest
import redis
import requests

from common.text import clean_text, hashtags
from common.tweets import RAW, REJECTED, REJECTED_EVENT_BYTES
from deploy.local.middlewares import deployment
from middleware.registry import connect
from tests.stack import ROOT, Stack, eventually, kill

pytestmark = [pytest.mark.server, pytest.mark.timeout(600), pytest.mark.every_middleware]

INVENTED = ROOT / "tests" / "data" / "tweets.jsonl"
REAL = ROOT.parent / "shared" / "data" / "x-sampled-stream.jsonl"


def stored_ids(stack: Stack) -> set[int]:
    return {tweet_id for tweet_id, in stack.rows("SELECT tweet_id FROM tweets")}


def independent_count(file: Path) -> Counter[str]:
    """Hashtags of a file, each once per tweet, in plain Python."""
    count: Counter[str] = Counter()
    for line in file.read_text().splitlines():
        tweet = json.loads(line)["data"]
        count.update(set(hashtags(tweet["text"], tweet.get("entities"))))
    return count


def replayed(stack: Stack, file: Path) -> tuple[str, dict[str, dict[str, int]]]:
    """Replays a file as of now; the run, and its stages when it is through."""
    run = stack.ingest("--source", "replay", "--path", str(file), "--timestamps", "now")["run"]
    return run, stack.audit("--run", run)


@pytest.mark.every_middleware(short=True)
@pytest.mark.parametrize("file", [
    pytest.param(INVENTED, id="invented"),
    pytest.param(REAL, id="real", marks=pytest.mark.skipif(not REAL.exists(), reason="the real tweets are not here")),
])
def test_a_replay_is_stored_and_ranked_exactly(stack: Stack, file: Path) -> None:
    before, known = Counter(stack.ranking()), stored_ids(stack)
    _, stages = replayed(stack, file)
    assert {name: (s["missing"], s["duplicated"]) for name, s in stages.items()} == dict.fromkeys(stages, (0, 0))
    ids = {int(json.loads(line)["data"]["id"]) for line in file.read_text().splitlines()}
    assert len(ids) == 300
    assert stored_ids(stack) == known | ids
    assert stages["stored"]["already_known"] == len(ids & known)
    if not ids & known:  # a tweet that came before may count in one of its moments or in both
        expected = before + independent_count(file)
        eventually("the ranking shows every hashtag", lambda: Counter(stack.ranking()) == expected)


@pytest.mark.every_middleware(short=True)
def test_status_and_page_tell_what_runs(stack: Stack) -> None:
    """The durability is what the middleware tells of its server, and how, on the page as in `status`."""
    status, settings = stack.status(), stack.settings()
    assert (status["middleware"], status["durability"]) == (settings.middleware, settings.durability)
    eventually("the durability is known", lambda: stack.get("pipeline")["durability"] == status["durability"], 10)
    shown = stack.get("pipeline")
    assert (shown["middleware"], shown["durability_asked"]) == (status["middleware"], status["durability_asked"])


def test_the_text_of_an_indexed_tweet_finds_it_first(stack: Stack) -> None:
    replayed(stack, INVENTED)
    rows = stack.rows("SELECT tweet_id, clean_text FROM tweets WHERE length(clean_text) > 40 LIMIT 40")
    assert len(rows) == 40
    for tweet_id, text in rows:
        first = stack.get("search", q=text[:512], limit=3)["hits"][0]
        assert first["tweet_id"] == str(tweet_id) or clean_text(first["text"])[:512] == text[:512]


def test_a_search_is_cached_and_expires(stack: Stack) -> None:
    query = {"q": "a question that nobody asked before", "limit": 5}
    assert stack.get("search", **query)["cached"] is False
    assert stack.get("search", **query)["cached"] is True
    eventually("the cached result expires", lambda: stack.get("search", **query)["cached"] is False, 20)


TOPICS = {
    "the goalkeeper saved a penalty in the last minute of the cup final": "football match",
    "slowly simmer the tomatoes with garlic and basil, then add the pasta": "cooking dinner recipe",
    "heavy rain and strong wind all night, the river is about to flood": "bad weather storm",
    "the rocket put three satellites into orbit and landed its booster": "space launch",
}


def push(stack: Stack, *payloads: bytes) -> requests.Response:
    token = stack.settings().ingest_token
    return requests.post(f"{stack.url}/api/v1/tweets", data=b"\n".join(payloads), timeout=30,
                         headers={"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"})


def payload(tweet_id: int, text: str, created_at: str | None = None, **fields: object) -> bytes:
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    return json.dumps({"data": {"id": str(tweet_id), "text": text, "author_id": "7", "lang": "en",
                                "created_at": created_at or now, **fields}}).encode()


def test_a_topical_query_in_other_words_finds_the_topic(stack: Stack) -> None:
    """Of the tweets pushed, the one on the topic is the nearest. They are told from all others, of which some may well
    be nearer, by a language that no other has."""
    answer = push(stack, *(payload(9_000_000 + i, text, lang="eo") for i, text in enumerate(TOPICS)))
    assert (answer.status_code, answer.json()["accepted"]) == (200, len(TOPICS)), answer.text
    eventually("they are indexed", lambda: stack.get("search", q=list(TOPICS)[-1])["hits"][0]["distance"] < 0.01, 30)
    for number, query in enumerate(TOPICS.values()):
        hits = [int(hit["tweet_id"]) for hit in stack.get("search", q=query, lang="eo", limit=100)["hits"]]
        pushed = [tweet_id - 9_000_000 for tweet_id in hits if 9_000_000 <= tweet_id < 9_000_000 + len(TOPICS)]
        assert pushed[:1] == [number], query


def test_pushing_tweets_needs_the_token(stack: Stack) -> None:
    answer = requests.post(f"{stack.url}/api/v1/tweets", data=payload(1, "no"), timeout=10)
    assert answer.status_code == 401
    assert answer.headers["Content-Type"].startswith("application/problem+json")


BAD = {
    "not-json": b'{"data": {"id": "1"',
    "invalid-utf8": b'{"data": {"id": "1", "text": "\xff\xfe"}}',
    "not-an-object": b"[1, 2, 3]",
    "missing-field": b'{"data": {"id": "8000001"}}',
    "wrong-type": payload(8_000_002, "x").replace(b'"8000002"', b'{"not": "an id"}'),
    "future": payload(8_000_003, "from the future #future", created_at="2030-01-01T00:00:00.000Z"),
    "too-large": payload(8_000_004, "x" * 2_000_000),
}


def test_bad_input_is_rejected_with_its_reason_and_stops_nothing(stack: Stack, tmp_path: Path) -> None:
    """Good tweets before, between and after each bad one all arrive; every bad one is kept with its reason."""
    before = Counter(stack.ranking())
    good = [payload(8_100_000 + i, f"good tweet {i} #between") for i in range(len(BAD) + 1)]
    lines = [good[0]]
    for bad, following in zip(BAD.values(), good[1:], strict=True):
        lines += [bad, following]
    lines.append(payload(8_200_000, "", entities={}))  # an empty text is a tweet
    lines.append(payload(8_200_001, "from 1970 #old", created_at="1970-01-01T00:00:00.000Z"))
    lines.append(good[0])  # a repeat
    file = tmp_path / "bad.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    run = stack.ingest("--source", "replay", "--path", str(file), "--timestamps", "recorded")["run"]
    stages = stack.audit("--run", run)
    assert all((s["missing"], s["duplicated"]) == (0, 0) for s in stages.values()), stages
    assert stages["enriched"]["rejected"] == len(BAD)
    assert stages["enriched"]["late"] == 1
    assert stages["stored"]["already_known"] == 1
    reasons = Counter(event["reason"] for event in rejected(stack, run))
    assert reasons == Counter(BAD.keys())
    assert stack.rows("SELECT late FROM tweets WHERE tweet_id = 8200001") == [(1,)]
    after = Counter(stack.ranking())
    assert after - before == Counter({"between": len(good)})
    metrics = requests.get(f"{stack.url}/metrics", timeout=10).text
    assert "future" in metrics


def rejected(stack: Stack, run: str) -> list[dict]:
    group = "test-rejected"
    with connect(stack.settings()) as middleware:
        with middleware.data.consumer(REJECTED, group, start="head") as consumer:
            events = []
            while polled := consumer.poll(1000, timeout=2):
                events += [json.loads(event) for event in polled]
        middleware.admin.forget_group(REJECTED, group)
    mine = [event for event in events if event["ingest"] and event["ingest"]["run"] == run]
    for event in mine:
        assert len(base64.b64decode(event["event"])) <= REJECTED_EVENT_BYTES
    return mine


@pytest.mark.parametrize(("path", "query", "field"), [
    ("trending", {"window": "2m"}, "window"),
    ("trending", {"window": "5m", "limit": "0"}, "limit"),
    ("trending", {"window": "5m", "limit": "many"}, "limit"),
    ("search", {"q": ""}, "q"),
    ("search", {}, "q"),
    ("search", {"q": "x" * 1000}, "q"),
    ("search", {"q": "x", "limit": "-1"}, "limit"),
    ("search", {"q": "x", "since": "yesterday"}, "since"),
])
def test_a_bad_request_names_its_field(stack: Stack, path: str, query: dict[str, str], field: str) -> None:
    answer = requests.get(f"{stack.url}/api/v1/{path}", params=query, timeout=10)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"].startswith("application/problem+json")
    assert field in json.dumps(answer.json())


def batches(stack: Stack, query: str) -> dict[int, float]:
    """The latest micro-batches of a query by number: how many seconds passed between the decision what it takes and
    its end, by the times of the two files that its checkpoint has of it."""
    checkpoint = stack.settings().checkpoint_dir / query
    begun, ended = ({int(file.name): file.stat().st_mtime for file in (checkpoint / kind).iterdir()
                     if file.name.isdigit()} for kind in ("offsets", "commits"))
    return {number: ended[number] - begun[number] for number in begun.keys() & ended.keys()}


@pytest.mark.slow
def test_a_micro_batch_is_counted_in_one(stack: Stack) -> None:
    queries = ("enrich", "trending")
    before = {query: max(batches(stack, query), default=0) for query in queries}
    stack.audit("--run", stack.ingest("--source", "synthetic", "--rate", "500", "--limit", "7500")["run"])
    after = {query: batches(stack, query) for query in queries}
    enriched, counted = (max(after[query]) - before[query] for query in queries)
    assert enriched > 5
    assert counted < 1.5 * enriched


@pytest.mark.slow
def test_a_micro_batch_does_not_wait_for_the_next_to_be_counted(stack: Stack) -> None:
    """By the times that both queries take for one: of use on a machine that does nothing else."""
    stack.audit("--run", stack.ingest("--source", "synthetic", "--rate", "500", "--limit", "7500")["run"])
    enriching, counting = (median(batches(stack, query).values()) for query in ("enrich", "trending"))
    assert counting < 2 * enriching


def test_rankings_survive_the_loss_of_redis_data(stack: Stack) -> None:
    client, prefix = redis.Redis.from_url(stack.settings().redis_address), stack.settings().redis_prefix
    client.flushall()  # retention may have taken counts that Redis still has: they would not come back
    eventually("the counts are complete", lambda: client.get(f"{prefix}marker"))
    replayed(stack, INVENTED)
    before = eventually("there are rankings", lambda: Counter(stack.ranking()))
    client.flushall()
    eventually("the same rankings are back", lambda: Counter(stack.ranking()) == before)


def test_a_dependency_that_is_down_is_named_and_heals(stack: Stack) -> None:
    """Milvus stops answering: search says so with 503 and Retry-After, trending goes on, and all heals by itself."""
    pids = stack.pids()["milvus"]
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        answer = requests.get(f"{stack.url}/api/v1/search", params={"q": f"unseen {time.time_ns()}"}, timeout=60)
        assert answer.status_code == 503
        assert "Retry-After" in answer.headers
        assert answer.headers["Content-Type"].startswith("application/problem+json")
        assert "hashtags" in stack.get("trending", window="1h")
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    stack.kill("milvus")
    eventually("search is back", lambda: "hits" in stack.get("search", q=f"football {time.time_ns()}"))


KILLED = ("spark", "trending", "search")
"""Each of these is killed once while tweets flow, then the servers of the middleware, and the ingester itself."""


@pytest.mark.parametrize("tweets", [
    10_000, pytest.param(100_000, marks=[pytest.mark.slow, pytest.mark.timeout(1200)]),
])
def test_nothing_is_lost_or_twice_when_everything_is_killed_once(stack: Stack, tweets: int) -> None:
    run, pids = f"kills-{tweets}", stack.pids()
    killed = [*KILLED, *deployment(stack.settings().middleware).killed]
    step = tweets / 2000 / (len(killed) + 2)
    ingester = stack.start("ingest", "--source", "synthetic", "--rate", "2000", "--limit", str(tweets), "--run", run)
    try:
        eventually("the first tweets are published", lambda: stack.acknowledged(run) > 0, 60)
        for name in killed:
            kill(pids[name])
            time.sleep(step)
    finally:
        ingester.kill()
        ingester.communicate()
    assert stack.acknowledged(run) < tweets, "the ingester was to be killed in the middle"
    resumed = stack.ingest("--resume", timeout=400)
    assert resumed["run"] == run
    stages = stack.audit("--run", run, timeout=300)
    with connect(stack.settings()) as middleware:
        exactly_once = middleware.spark.binding(RAW).exactly_once
    assert not (exactly_once and "repeated" in stages["enriched"]), stages  # elsewhere Spark may write a batch again
    assert {name: (s["missing"], s["duplicated"]) for name, s in stages.items()} == dict.fromkeys(stages, (0, 0))
    assert stages["published"]["expected"] == tweets
    assert stages["ranked"]["found"] == tweets
