"""docs/streams.md tells what is: the contracts in common/tweets.py, who reads, and the events that are made of tweets
as they come and as they should not be.

What Spark makes is compared in tests/spark_jobs/test_transforms.py, what an instance holds in
tests/e2e/test_streams.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any, get_args

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import settings as examples
from msgspec import inspect

from common.settings import Settings
from common.tweets import (
    ENRICHED,
    HASHTAG_COUNTS,
    RAW,
    REJECTED,
    STREAMS,
    Count,
    EnrichedTweet,
    RawEvent,
    Reader,
    Reason,
    RejectedEvent,
    enriched_tweet,
    hashtag_count,
)
from consumers.parking import Parking
from ingest.sources.base import Payload, examine
from ingest.sources.synthetic import Synthetic
from ingest.stamp import Stamper
from middleware.readers import READERS
from spark_jobs.accept_or_reject import Outcome, Rules, enrich_event
from tests.contract import OTHERS, differences, streams, unquoted
from tests.ingest.endpoint.bodies import bodies
from tests.memory import Memory
from tests.odd import payloads
from tests.spark_jobs.odd_events import odd_events
from tests.stack import ROOT

RULES = Rules(max_event_bytes=1 << 20, allowed_lateness_s=600, future_tolerance_s=120, max_hashtags=100)
NAMES = {
    inspect.IntType: "integer", inspect.StrType: "string", inspect.BoolType: "boolean", inspect.NoneType: "null",
    inspect.LiteralType: "string", inspect.StructType: "object", inspect.TypedDictType: "object",
    inspect.DictType: "object",
}  # fmt: skip


def described(of: inspect.Type) -> str:
    """A type as the page writes it."""
    if isinstance(of, inspect.UnionType):
        return " or ".join(map(described, of.types))
    if isinstance(of, inspect.ListType):
        return f"array of {described(of.item_type)}"
    return NAMES[type(of)]


def fields(of: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Names and types of an event's fields as the code has them, those within objects too."""
    info = inspect.type_info(of) if not isinstance(of, inspect.Type) else of
    for field in info.fields:  # type: ignore[attr-defined]
        yield f"{prefix}{field.encode_name}", described(field.type)
        inner = field.type.types if isinstance(field.type, inspect.UnionType) else [field.type]
        for each in inner:
            if isinstance(each, inspect.StructType | inspect.TypedDictType):
                yield from fields(each, f"{prefix}{field.encode_name}.")


def on_the_page(stream: str) -> list[tuple[str, str]]:
    return [(unquoted(row["Field"]), row["Type"]) for row in streams()[stream].tables["Field"]]


def test_every_stream_is_described() -> None:
    assert tuple(streams()) == STREAMS


@pytest.mark.parametrize(("stream", "contract"), [(ENRICHED, EnrichedTweet), (REJECTED, RejectedEvent)])
def test_the_fields_are_those_of_the_contract_in_their_order(stream: str, contract: Any) -> None:
    assert on_the_page(stream) == list(fields(contract))


def test_the_fields_of_a_raw_event_are_those_of_the_contract() -> None:
    payload = ("data", "includes")
    assert sorted(on_the_page(RAW)) == sorted(
        [(OTHERS, "any"), *((name, kind) for name, kind in fields(RawEvent) if name not in payload)])


def test_each_kind_of_a_count_has_the_fields_of_its_contract() -> None:
    by_kind = {}
    for contract in get_args(Count):
        info = inspect.type_info(contract)
        assert info.tag_field == "kind"
        by_kind[info.tag] = [("kind", "string"), *fields(contract)]
    page = streams()[HASHTAG_COUNTS]
    assert page.named("Kind") == list(by_kind)
    for kind, expected in by_kind.items():
        found = [(unquoted(row["Field"]), row["Type"]) for row in page.tables["Field"]
                 if row["Present"] in ("always", f"`kind` is `{kind}`")]
        assert found == expected


def test_reasons_and_stages_are_those_of_the_contract() -> None:
    assert streams()[REJECTED].named("Reason") == list(get_args(Reason))
    assert sorted(streams()[REJECTED].quoted("Written by")) == sorted(get_args(Reader))


def test_who_reads_is_who_is_known_to() -> None:
    for stream, page in streams().items():
        readers = [reader.name for reader in READERS if reader.stream == stream]
        assert [name for name in page.quoted("Read by") if name in get_args(Reader)] == readers, stream


def test_the_examples_are_events_that_the_code_makes_of_one_another() -> None:
    page = {name: [orjson.loads(event) for event in stream.examples] for name, stream in streams().items()}
    assert {name: len(found) for name, found in page.items()} == {RAW: 1, ENRICHED: 1, REJECTED: 1, HASHTAG_COUNTS: 3}
    for name, stream in streams().items():
        assert [differences(name, event) for event in stream.examples] == [[]] * len(stream.examples)
    (raw,), (enriched,), (rejected,) = page[RAW], page[ENRICHED], page[REJECTED]
    assert json.loads(enrich_event(orjson.dumps(raw), RULES, raw["ingest"]["sent_at_us"]).event) == enriched
    refused = b'{"ingest":%b,"raw_base64":"%b"}' % (orjson.dumps(rejected["ingest"]), rejected["event"].encode())
    found = json.loads(enrich_event(refused, RULES, rejected["ingest"]["sent_at_us"] + 217_000).event)
    assert found == rejected
    kinds = [type(hashtag_count(event)) for event in streams()[HASHTAG_COUNTS].examples]
    assert sorted(kinds, key=str) == sorted(get_args(Count), key=str)


def test_what_a_payload_needs_is_what_enrich_asks_for() -> None:
    (raw,) = map(orjson.loads, streams()[RAW].examples)
    for row in streams()[RAW].tables["Payload"]:
        data = {name: value for name, value in raw["data"].items() if name != unquoted(row["Payload"])}
        outcome = enrich_event(orjson.dumps(raw | {"data": data}), RULES, raw["ingest"]["sent_at_us"])
        assert outcome.reason == ("missing-field" if row["Present"] == "always" else None), row
    assert {unquoted(row["Payload"]) for row in streams()[RAW].tables["Payload"]} == raw["data"].keys()


def test_what_a_deletion_needs_is_what_enrich_asks_for() -> None:
    (raw,) = map(orjson.loads, streams()[RAW].examples)
    named = [unquoted(row["Deletion"]).split(".") for row in streams()[RAW].tables["Deletion"]]
    for kind in {path[0] for path in named}:
        paths = [path[1:] for path in named if path[0] == kind]
        for left_out in (None, *paths):
            content: dict[str, Any] = {}
            for path in paths:
                if path != left_out:
                    inner = content if len(path) == 1 else content.setdefault(path[0], {})
                    inner[path[-1]] = raw["data"]["created_at"] if path[-1] == "event_at" else "42"
            outcome = check_enriched(orjson.dumps(raw | {"data": {kind: content}}), raw["ingest"]["sent_at_us"])
            assert outcome.reason == (None if left_out is None else "missing-field"), (kind, left_out)


def check_flow(payload: Payload, max_event_bytes: int = 1 << 20) -> Outcome:
    """A payload as the publisher stamps it and as *enrich* passes it on: both are as described."""
    now_us = time.time_ns() // 1000
    raw = Stamper("test", "run-1", max_event_bytes).event(7, now_us, payload)
    assert differences(RAW, raw) == []
    return check_enriched(raw, now_us)


def check_enriched(raw: bytes, now_us: int) -> Outcome:
    outcome = enrich_event(raw, RULES, now_us)
    assert differences(outcome.stream, outcome.event) == []
    if outcome.stream == ENRICHED:
        tweet = enriched_tweet(outcome.event)
        keys = {"": str(tweet.tweet_id), "tweet": str(tweet.deleted_id), "author": tweet.author_id[:64]}
        assert outcome.key == keys[tweet.deletes]
    else:
        assert outcome.key == orjson.loads(outcome.event)["sha256"]
    return outcome


@pytest.mark.parametrize("size", ["lean", "full"])
def test_synthetic_and_real_tweets_flow_as_described(size: Any) -> None:
    now_us = time.time_ns() // 1000
    tweets = Synthetic("run-1", payload=size).take([now_us] * 500)
    tweets += [examine(line) for line in (ROOT / "tests/data/tweets.jsonl").read_bytes().splitlines()]
    assert {check_flow(tweet).stream for tweet in tweets} == {ENRICHED}


def test_a_position_stays_in_the_first_stream() -> None:
    for line in (ROOT / "tests/data/tweets.jsonl").read_bytes().splitlines():
        outcome = check_flow(examine(line)._replace(position='[{"offset":5}]'))
        assert (outcome.stream, outcome.reason) == (ENRICHED, None)
        assert b"position" not in outcome.event[:outcome.event.index(b'"author_id"')]
    assert check_flow(examine(b"no json")._replace(position="host 1 2")).reason == "not-json"


def test_odd_payloads_flow_as_described() -> None:
    outcomes = [check_flow(examine(body)) for body in islice(payloads(11), 3000)]
    assert {outcome.reason for outcome in outcomes} == {None, *get_args(Reason)} - {"unreadable"}
    assert check_flow(examine(b'{"data":"%b"}' % (b"x" * 5000)), 4096).reason == "too-large"


@examples(max_examples=500)
@given(bodies)
def test_any_body_flows_as_described(body: bytes) -> None:
    check_flow(examine(body))


@examples(max_examples=500)
@given(odd_events())
def test_whatever_stands_in_the_first_stream_is_passed_on_as_described(raw: bytes) -> None:
    check_enriched(raw, 1_795_000_000_000_000)


def test_what_a_consumer_parks_is_as_described() -> None:
    memory = Memory(Settings())
    memory.admin.create_stream(REJECTED, 1)
    (stamped,) = (event for event in streams()[ENRICHED].examples)
    parking = Parking(Settings(), "search-consumer", ENRICHED, lambda _: memory)
    parking.park([b"no json", stamped, b"\xff" * 100_000], {0: "x", 1: "x", 2: "x"}, lambda index: f"0/{index}")
    parked = memory.events(REJECTED)
    assert [differences(REJECTED, event) for event in parked] == [[], [], []]
    assert [msgspec.json.decode(event)["position"] for event in parked] == [f"{ENRICHED}/0/{n}" for n in range(3)]


@pytest.mark.parametrize(("stream", "change"), [
    (RAW, {"ingest": None}), (RAW, {"ingest": {}}), (RAW, {"raw_base64": 5}), (RAW, {"oversize": {"bytes": 1}}),
    (ENRICHED, {"other": 1}), (ENRICHED, {"late": 0}), (ENRICHED, {"tweet_id": True}), (ENRICHED, {"hashtags": [1]}),
    (ENRICHED, {"created_at": "2026-11-18T11:06:40Z"}), (ENRICHED, {"text": ...}), (REJECTED, {"event": "?"}),
    (REJECTED, {"sha256": "5A"}), (REJECTED, {"stage": ...}), (HASHTAG_COUNTS, {"hashtag": "a"}),
    (HASHTAG_COUNTS, {"kind": "hashtag"}), (HASHTAG_COUNTS, {"max_sent_us": 1 << 53}), (HASHTAG_COUNTS, {"count": -1}),
])
def test_an_event_that_is_not_as_described_is_seen(stream: str, change: dict[str, Any]) -> None:
    good = orjson.loads(streams()[stream].examples[0])
    bad = {name: value for name, value in (good | change).items() if value is not ...}
    assert len(differences(stream, orjson.dumps(bad))) >= 1
