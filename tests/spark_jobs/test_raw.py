"""The two ways of reading an event: whatever the quick one accepts, the thorough one reads as the same tweet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.sources.synthetic import Synthetic
from ingest.stamp import Stamper
from spark_jobs.raw import Origin, RawDeletion, RawTweet, Rejection, examined
from spark_jobs.raw_fast import is_utf8, well_formed
from tests.spark_jobs.odd_events import DATA, DELETIONS, GOOD, STAMP, odd_events

LIMIT, MOST = 1 << 20, 100
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(1 << 65), 1 << 65), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5), st.just([]), st.just({}),
    st.sampled_from(["00012", "9" * 19, "9" * 20, "١٢", "\ud83d", "a\0b"]),
    st.lists(st.sampled_from([{"tag": "x"}, {"tag": 1}, {"tag": None}, {}, "x", None]), max_size=3),
    st.just({"hashtags": None}), st.just({"hashtags": [{"tag": ""}]}), st.just({"hashtags": "x"}),
)

URLS = st.sampled_from(["https://example.org/a", "http://a", "https://", "javascript:alert(1)", "https://a b",
                        "https://é", "https://a/" + "b" * 600])


def thorough(raw: bytes) -> RawTweet | RawDeletion | None:
    try:
        return examined(Origin(raw), LIMIT, MOST)
    except Rejection:
        return None


@given(
    stamp=st.dictionaries(st.sampled_from([*STAMP, "more"]), ODD, max_size=1),
    data=st.dictionaries(st.sampled_from([*DATA, "more", "url"]), ODD | URLS, max_size=2),
    deletion=st.sampled_from([{}, *DELETIONS]),
    beside=st.dictionaries(st.sampled_from(["includes", "raw_base64", "oversize", "data", "ingest"]), ODD, max_size=1),
    ascii=st.booleans(),
)
def test_what_is_accepted_quickly_reads_the_same_thoroughly(
    stamp: dict[str, Any], data: dict[str, Any], deletion: dict[str, Any], beside: dict[str, Any], ascii: bool
) -> None:
    event = {"ingest": STAMP | stamp, "data": DATA | data | deletion, **beside}
    raw = json.dumps(event, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    quick = well_formed(raw, MOST) if is_utf8(raw) else None
    assert quick is None or quick == thorough(raw)


@given(odd_events())
@settings(max_examples=500)
@example(GOOD.replace(b'"lang"', b'"more": %b, "lang"' % (b"9" * 5000)))
def test_whatever_is_accepted_quickly_reads_the_same_thoroughly(raw: bytes) -> None:
    quick = well_formed(raw, MOST) if is_utf8(raw) else None
    assert quick is None or quick == thorough(raw)


def test_synthetic_tweets_are_all_read_quickly() -> None:
    tweets, stamper = Synthetic("run", payload="full"), Stamper("synthetic", "run", LIMIT)
    sent = range(1_795_000_000_000_000, 1_795_000_000_200_000, 100)
    payloads = enumerate(zip(sent, tweets.take(sent), strict=True))
    events = [stamper.event(seq, us, payload) for seq, (us, payload) in payloads]
    read = [well_formed(event, MOST) for event in events]
    assert None not in read
    assert read == [thorough(event) for event in events]


def test_the_invented_sample_reads_the_same_both_ways() -> None:
    lines = (Path(__file__).parents[1] / "data" / "tweets.jsonl").read_bytes().splitlines()
    events = [b'{"ingest":%b,%b' % (json.dumps(STAMP).encode(), line.strip()[1:]) for line in lines]
    read = [well_formed(event, MOST) if is_utf8(event) else None for event in events]
    assert all(quick is None or quick == thorough(event) for quick, event in zip(read, events, strict=True))
    assert sum(quick is not None for quick in read) > len(events) / 2


@pytest.mark.parametrize("raw", [b'{"ingest":{},"x":"\xff"}', b"\xed\xa0\x80"])
def test_what_is_not_utf8(raw: bytes) -> None:
    assert not is_utf8(raw)
