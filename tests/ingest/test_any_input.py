"""Whatever comes is published, refused or rejected with a reason, and the next one goes on."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.settings import Settings
from common.tweets import RAW
from ingest.endpoint.http import objection
from ingest.sources.base import examine
from ingest.stamp import Archived, Stamper, created_now, read_line
from spark_jobs.raw import Origin, Rejection, examined
from tests.ingest.endpoint.bodies import bodies
from tests.memory import Memory

SETTINGS = Settings(max_event_bytes=4096)
STAMPER = Stamper("http", "run-1", SETTINGS.max_event_bytes)

NEAR_THE_EDGE = [
    rb'{"data":{"author_id":"\ud800"}}',
    b'{"ingest":1,"a":' + b"[" * 1000 + b"]" * 1000 + b"}",
    b'{"data":{"author_id":"' + b"9" * 3000 + b'"}}',
    b"{ }",
    rb'{"ingest":1,"a":1e999,"b":"\ud800"}',
    rb'{"\ud800":1,"ingest":2}',
]


def goes_through(body: bytes) -> None:
    """From `examine` to what *enrich* makes of the event, by way of the archive."""
    payload = examine(body)
    line = STAMPER.line(7, 5, payload)
    assert line.count(b"\n") == 1
    entry = read_line(line)
    assert entry is not None
    assert (entry.seq, entry.sent_at_us) == (7, 5)
    memory = Memory(SETTINGS)
    memory.admin.create_stream(RAW, 1)
    with memory.data.producer(RAW) as producer:
        for archived in (Archived(7, 5, payload), entry, Archived(7, 5, created_now(payload, 5))):
            producer.send(archived.payload.author_id, STAMPER.event(*archived))
    published, recovered, dated = memory.events(RAW)
    assert recovered == published
    for event in (published, dated):
        origin = Origin(event)
        with suppress(Rejection):
            examined(origin, SETTINGS.max_event_bytes, SETTINGS.max_hashtags)
        assert origin.ingest is not None
        assert (origin.ingest.run, origin.ingest.seq) == ("run-1", 7)
    assert (objection(payload, SETTINGS.max_event_bytes) is None) == (
        payload.tweet is not None and len(payload.body) + 512 <= SETTINGS.max_event_bytes)


@settings(max_examples=1000)
@given(bodies)
def test_any_body_goes_through(body: bytes) -> None:
    goes_through(body)


@pytest.mark.parametrize("body", NEAR_THE_EDGE, ids=range(len(NEAR_THE_EDGE)))
def test_known_traps_go_through(body: bytes) -> None:
    goes_through(body)


def test_an_author_is_a_key_that_every_middleware_takes() -> None:
    assert examine(rb'{"data":{"author_id":"1\ud8002"}}').author_id == "1\ufffd2"
    assert examine(rb'{"data":{"author_id":"\ud83d\ude00"}}').author_id == "😀"
    assert examine(b'{"data":{"author_id":"%b"}}' % (b"9" * 100)).author_id == "9" * 64


@given(st.binary(max_size=80), st.integers(0, 80))
def test_spoilt_lines_of_the_archive_are_read_or_passed_over(noise: bytes, at: int) -> None:
    line = STAMPER.line(7, 5, examine(b'{"data":{"id":"1"}}'))
    read_line(line[:at] + noise + line[at + len(noise):])
    read_line(noise + b"}\n")
    assert read_line(b'{"ingest":{},"payload":{}}\n') is None
    assert read_line(line.replace(b'"payload":', b'"payload_base64":')) is None


@pytest.mark.parametrize("sent_at_us", [-(1 << 62), 1 << 62, 1 << 80])
def test_a_time_that_no_calendar_has_leaves_the_tweet_its_date(sent_at_us: int) -> None:
    payload = examine(b'{"data":{"id":"1"}}')
    assert created_now(payload, sent_at_us) == payload


def test_a_replay_takes_whatever_stands_in_the_file(tmp_path: Path) -> None:
    from ingest.sources.replay import Replay
    file = tmp_path / "tweets.jsonl"
    file.write_bytes(b"\n".join(NEAR_THE_EDGE))
    source = Replay([file], "now")
    assert len(source.take([5] * 20)) == len(NEAR_THE_EDGE)
