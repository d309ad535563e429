import base64
import hashlib

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources.base import examine
from ingest.stamp import Archived, Stamper, created_now, payload_of, read_line

STAMPER = Stamper("replay", "run-1", 4096)
STAMP = {"sent_at_us": 5, "source": "replay", "run": "run-1", "seq": 7}

UNUSABLE = [b'{"data": {', b"[1, 2]", b"null", b'"text"', b'{"a": "\xff"}', b'{"a": NaN}', b"\x00\x01\n\x02", b""]


def event(body: bytes) -> dict:
    return orjson.loads(STAMPER.event(7, 5, examine(body)))


def test_the_stamp_stands_beside_the_payload() -> None:
    tweet = {"data": {"id": "1", "author_id": "9", "text": "} é\n"}, "includes": {"users": []}}
    assert event(orjson.dumps(tweet)) == {"ingest": STAMP, **tweet}
    assert event(b" {} \r\n") == {"ingest": STAMP}
    assert examine(orjson.dumps(tweet)).author_id == "9"


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=50), st.sampled_from([b"{}", b"[]", b'{"a":1}']))
def test_a_position_stands_last_in_the_stamp_and_comes_back_from_the_archive(position: str, body: bytes) -> None:
    payload = examine(body)._replace(position=position)
    stamped = STAMPER.event(7, 5, payload)
    assert orjson.loads(stamped)["ingest"] == {**STAMP, "position": position}
    assert orjson.loads(stamped[len(b'{"ingest":'):stamped.index(b"}") + 1])["position"] == position
    line = STAMPER.line(7, 5, payload)
    assert read_line(line) == Archived(7, 5, payload)
    assert payload_of(line) == examine(body)  # a replay goes on nowhere else


def test_a_deletion_has_the_key_of_the_author_whose_posts_it_is_about() -> None:
    assert examine(b'{"data":{"delete":{"tweet":{"id":"1","author_id":"9"}}}}').author_id == "9"
    assert examine(b'{"data":{"user_delete":{"user":{"id":"9"}}}}').author_id == "9"
    assert examine(b'{"data":{"delete":[],"user_delete":{"user":5}}}').author_id == ""


@pytest.mark.parametrize("body", UNUSABLE)
def test_what_is_no_object_travels_as_it_is(body: bytes) -> None:
    found = event(body)
    assert found["ingest"] == STAMP
    assert base64.b64decode(found["raw_base64"]) == body.strip()


def test_an_event_that_is_too_large_is_told_by_its_digest() -> None:
    body = b'{"data":"' + b"x" * 5000 + b'"}'
    digest = hashlib.sha256(body).hexdigest()
    assert event(body) == {"ingest": STAMP, "oversize": {"bytes": len(body), "sha256": digest}}
    assert set(event(b"\xff" * 4000)) == {"ingest", "oversize"}


def test_a_stamp_from_outside_is_taken_off() -> None:
    assert event(b'{"ingest":{"run":"other","seq":1},"data":{"id":"1"}}') == {"ingest": STAMP, "data": {"id": "1"}}


@pytest.mark.parametrize("name", ["raw_base64", "oversize"])
def test_what_stands_for_a_payload_is_taken_off_one_that_has_it(name: str) -> None:
    assert event(b'{"%b":5,"data":{"id":"1"}}' % name.encode()) == {"ingest": STAMP, "data": {"id": "1"}}


def test_a_lone_surrogate_is_json() -> None:
    payload = examine(rb'{"data":{"text":"\ud83d"}}')
    assert payload.tweet is not None
    assert b"raw_base64" not in STAMPER.event(7, 5, payload)


@pytest.mark.parametrize("author", [b"5", b"null", b"[]", b'{"a":1}'])
def test_an_author_of_another_type_is_no_key(author: bytes) -> None:
    assert examine(b'{"data":{"author_id":%b}}' % author).author_id == ""


OBJECTS = [b'{"data":{"text":"a } b"}}', b'{"a":"\\n"}', b'{"a":\n1}']


@given(st.one_of(st.binary(max_size=200), st.sampled_from(OBJECTS)))
def test_a_line_of_the_archive_gives_the_same_event_back(body: bytes) -> None:
    payload = examine(body)
    line = STAMPER.line(7, 5, payload)
    assert line.count(b"\n") == 1
    entry = read_line(line)
    assert entry is not None
    assert (entry.seq, entry.sent_at_us) == (7, 5)
    assert STAMPER.event(*entry) == STAMPER.event(7, 5, payload)


def test_a_torn_line_is_none() -> None:
    line = STAMPER.line(7, 5, examine(b'{"data":{"id":"1"}}'))
    assert all(read_line(line[:end]) is None for end in range(len(line)))


def test_a_tweet_dated_now_keeps_everything_else() -> None:
    body = b'{"data":{"id":"1","created_at":"2021-01-01T00:00:00.000Z","text":"x"},"includes":{}}'
    payload = created_now(examine(body), 1_790_000_000_123_456)
    assert payload.body == body
    assert payload.tweet is not None
    assert orjson.loads(payload.tweet) == {
        "data": {"id": "1", "created_at": "2026-09-21T14:13:20.123Z", "text": "x"}, "includes": {}}
    for name in ("delete", "user_delete"):  # of a replay, it comes behind what it deletes
        gone = created_now(examine(b'{"data":{"%b":{"event_at":"2021-01-01T00:00:00.000Z"}}}' % name.encode()),
                           1_790_000_000_123_456)
        assert orjson.loads(gone.tweet or b"") == {"data": {name: {"event_at": "2026-09-21T14:13:20.123Z"}}}
    for unusable in (*UNUSABLE, b'{"data": 5}', b"{}"):
        assert created_now(examine(unusable), 5) == examine(unusable)
