"""Wikimedia's edits, from a local server of server-sent events that misbehaves."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, repeat
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.settings import Settings
from ingest.sources.base import Payload, examine
from ingest.sources.live import Broken, identifier
from ingest.sources.sse import LONGEST_EVENT, LONGEST_LINE, Sent, TooLong, events
from ingest.sources.wikimedia import Wikimedia, language, read
from tests.ingest.sources.odd_fields import VALUES, put
from tests.ingest.sources.taking import FAST, WAIT_SECONDS, ids, take
from tests.ingest.sources.x_server import Behaviour, XServer, answers, breaks_off, sends, stall
from tests.search.servers import free_port
from tests.stack import eventually
from tests.test_streams import check_flow


def change(number: int, **more: Any) -> dict[str, Any]:
    return {
        "$schema": "/mediawiki/recentchange/1.0.0", "type": "edit", "namespace": 0, "title": f"Invented page {number}",
        "comment": "/* History */ a comma", "user": f"Editor {number % 7}", "bot": False, "wiki": "enwiki",
        "meta": {"id": f"invented-{number}", "dt": "2026-11-27T09:00:00.123Z", "domain": "en.wikipedia.org",
                 "uri": f"https://en.wikipedia.org/wiki/Invented_page_{number}", "stream": "mediawiki.recentchange"},
    } | more  # fmt: skip


def event_id(number: int) -> str:
    return json.dumps([{"topic": "invented.recentchange", "partition": 0, "offset": number}])


def sent(number: int, data: bytes | None = None) -> bytes:
    body = data if data is not None else orjson.dumps(change(number))
    return b"event: message\nid: %b\ndata: %b\n\n" % (event_id(number).encode(), body)


def of(*numbers: int) -> list[str]:
    return [identifier(f"invented-{number}") for number in numbers]


@contextmanager
def listening(
    *behaviours: Behaviour, archived: Sequence[Payload] = (), since_us: int | None = None, silence_s: float = 20
) -> Iterator[tuple[Wikimedia, XServer]]:
    with XServer(behaviours) as server:
        source = Wikimedia(Settings(wikimedia_url=server.url, live_silence_s=silence_s), archived, since_us, FAST)
        try:
            yield source, server
        finally:
            source.close()
    source._thread.join(WAIT_SECONDS)  # it hears of it once the server is gone


def test_edits_come_as_tweets_of_the_contract() -> None:
    with listening(sends(b":ok\n\n", sent(7)), stall) as (source, server):
        [payload] = take(source, 1)
    assert orjson.loads(payload.body) == {"data": {
        "id": of(7)[0], "author_id": "Editor 0", "created_at": "2026-11-27T09:00:00.123Z",
        "text": "Invented page 7: /* History */ a comma", "lang": "en",
        "entities": {"hashtags": [{"start": 0, "end": 8, "tag": "Invented"}, {"start": 9, "end": 13, "tag": "page"}]},
        "url": "https://en.wikipedia.org/wiki/Invented_page_7",
    }}  # fmt: skip
    assert (payload.author_id, payload.position) == ("Editor 0", event_id(7))
    assert server.requests[0][0] == "/v2/stream/recentchange"
    assert server.headers[0]["User-Agent"].startswith("murmuration/")
    assert "Last-Event-ID" not in server.headers[0]


def test_canaries_and_what_is_no_edit_are_left_out_and_counted() -> None:
    canary = change(1) | {"meta": {**change(1)["meta"], "domain": "canary"}}
    others = [canary, change(2, type="log"), change(3, type="categorize"), {"meta": {}}]
    first = [sent(9, orjson.dumps(each)) for each in others]
    with listening(sends(*first, sent(4, b"{"), sent(5)), stall) as (source, _):
        assert ids(take(source, 1)) == of(5)
        assert source.left_out() == {"canaries": 1, "no edits": 2, "broken": 2, "repeated": 0}


@pytest.mark.parametrize("behaviour", [
    sends(), breaks_off(sent(1)[:100]), answers(503), answers(429), answers(403), sends(sent(0)),
    breaks_off(b"data: \xff\xfe\n\n", sent(1)[:-1]), sends(b"data: " + b"x" * (LONGEST_LINE + 10)), stall,
], ids=["closed", "mid-event", "503", "429", "403", "repeats", "no utf-8", "endless line", "silent"])
def test_every_edit_comes_once_whatever_happens_to_a_connection(behaviour: Behaviour) -> None:
    with listening(sends(sent(0)), behaviour, sends(sent(1), sent(2)), stall, silence_s=0.5) as (source, server):
        assert ids(take(source, 3)) == of(0, 1, 2)
        assert source.take([0]) == []
        assert [headers["Last-Event-ID"] for headers in server.headers[:3]] == [None, event_id(0), event_id(0)]


def test_a_restart_goes_on_behind_what_was_archived_and_knows_it() -> None:
    with listening(sends(sent(0), sent(1)), stall) as (source, _):
        archived = take(source, 2)
    with listening(sends(sent(1), sent(2)), stall, archived=archived) as (source, server):
        assert ids(take(source, 1)) == of(2)
        assert server.headers[0]["Last-Event-ID"] == event_id(1)
        assert source.left_out()["repeated"] == 1


def test_a_position_that_the_server_refuses_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with listening(sends(sent(0)), answers(400), sends(sent(5)), stall) as (source, server):
        assert ids(take(source, 2)) == of(0, 5)
        assert [headers["Last-Event-ID"] for headers in server.headers[:3]] == [None, event_id(0), None]
    assert "what came since is missing" in caplog.text


def test_where_the_archive_is_gone_it_goes_on_at_the_time_of_the_last_run() -> None:
    with listening(sends(sent(0)), sends(sent(1)), stall, since_us=1795770000000000) as (source, server):
        assert ids(take(source, 2)) == of(0, 1)
        assert [path.partition("?")[2] for path, _ in server.requests[:2]] == ["since=2026-11-27T09%3A00%3A00.000Z", ""]


def test_an_event_of_nothing_without_end_is_too_long() -> None:
    with pytest.raises(TooLong):
        list(events(repeat(b"data:\n" * 10_000, LONGEST_EVENT // 10_000 + 1)))


@pytest.mark.parametrize("location", [b"http://[", b"http://127.0.0.1:1/\xff", b"/elsewhere"])
def test_who_leads_elsewhere_is_a_server_that_is_not_reached(location: bytes) -> None:
    """As what stands before the net of a hotel does."""
    redirect = b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"
    with listening(lambda stream: stream.wfile.write(redirect), sends(sent(0)), stall) as (source, _):
        assert ids(take(source, 1)) == of(0)


def test_a_server_that_is_not_reached_is_named_with_the_way_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    url = f"http://127.0.0.1:{free_port()}"
    source = Wikimedia(Settings(wikimedia_url=url), scale=FAST)
    try:
        eventually("it is named", lambda: f"{url}/v2/stream/recentchange is not reached" in caplog.text, WAIT_SECONDS)
        eventually("it is tried on", lambda: caplog.text.count("again in") > 2, WAIT_SECONDS)
    finally:
        source.close()
    assert "murmur ingest --source synthetic" in caplog.text


@pytest.mark.parametrize("odd", ["é", "a" * 601, ""])
def test_an_id_that_cannot_be_asked_for_is_no_position(odd: str) -> None:
    one, other = sent(1).replace(event_id(1).encode(), odd.encode()), sent(2)
    with listening(sends(sent(0)), sends(one), sends(other), stall) as (source, server):
        assert [payload.position for payload in take(source, 3)] == [event_id(0), event_id(0), event_id(2)]
        assert server.headers[2]["Last-Event-ID"] == event_id(0)


@pytest.mark.parametrize(("domain", "lang"), [
    ("de.wikipedia.org", "de"), ("simple.wikipedia.org", "en"), ("zh-min-nan.wikipedia.org", "zh"),
    ("ceb.wiktionary.org", "ceb"), ("pt.m.wikipedia.org", "pt"), ("commons.wikimedia.org", "und"),
    ("www.wikidata.org", "und"), ("test.wikipedia.org", "und"), ("de.example.org", "und"), ("", "und"),
])
def test_the_language_is_that_of_the_wiki(domain: str, lang: str) -> None:
    assert language(domain) == lang


@pytest.mark.parametrize(("title", "namespace", "tags"), [
    ("User talk:Ann Lee", 3, ["Ann", "Lee"]), ("Alien: Covenant", 0, ["Alien", "Covenant"]), ("Q42", 0, []),
    ("List of 1999 films by the old town of Cork", 0, ["List", "films", "the", "old", "town"]),
    ("東京都の歴史", 0, ["東京都の歴史"]), ("L'Été d'Élise", 0, ["Été", "Élise"]),
])
def test_words_of_a_title_are_its_hashtags(title: str, namespace: int, tags: list[str]) -> None:
    payload = read(orjson.dumps(change(1, title=title, namespace=namespace))).payload
    assert payload is not None
    data = orjson.loads(payload.body)["data"]
    assert [tag["tag"] for tag in data["entities"]["hashtags"]] == tags
    assert [data["text"][tag["start"]:tag["end"]] for tag in data["entities"]["hashtags"]] == tags


PLACES = [(), ("meta",), *((name,) for name in change(1)), *(("meta", name) for name in change(1)["meta"])]


@given(st.sampled_from(PLACES), VALUES)
def test_whatever_a_field_holds_is_read_or_broken_and_flows_as_described(place: tuple[Any, ...], value: Any) -> None:
    frame = json.dumps(put(change(3), place, value)).encode()
    try:
        found = read(frame)
    except Broken:
        return
    if found.payload:
        assert examine(found.payload.body) == found.payload
        check_flow(found.payload._replace(position=event_id(1)))


@given(st.lists(st.integers(0, 300), max_size=10), st.sampled_from([b"\n", b"\r\n"]))
def test_events_are_the_same_wherever_they_are_cut(cuts: list[int], end: bytes) -> None:
    stream = b":ok\n\n" + sent(1) + b"data: a\ndata:b\nretry: 5\n\nid\ndata: c\n\ndata: cut"
    stream = stream.replace(b"\n", end)
    places = [0, *sorted(cuts), len(stream)]
    chunks = [stream[start:stop] for start, stop in pairwise(places)]
    first = event_id(1).encode()
    assert [each for each in events(chunks) if each] == [
        Sent(first, orjson.dumps(change(1))), Sent(first, b"a\nb"), Sent(b"", b"c")]


def test_what_has_no_end_is_given_up() -> None:
    with pytest.raises(TooLong):
        list(events(b"data: x" for _ in range(LONGEST_LINE)))
    with pytest.raises(TooLong):
        list(events(b"data: " + b"x" * 1000 + b"\n" for _ in range(10_000)))
