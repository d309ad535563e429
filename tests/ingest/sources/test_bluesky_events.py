"""What becomes of frames, whatever they hold."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources.base import examine
from ingest.sources.bluesky_events import ADULT, Event, Notice, Refused, read
from ingest.sources.live import Broken
from tests.ingest.sources.jetstream import account, commit, did, message, post
from tests.ingest.sources.odd_fields import VALUES, put
from tests.test_streams import check_flow

PLACES = [
    (), ("$type",), ("payload",), *(("payload", name) for name in (
        "$type", "seq", "did", "time", "rev", "operation", "collection", "rkey", "cid", "record", "account")),
    *(("payload", "record", name) for name in ("$type", "text", "langs", "facets", "tags", "labels", "createdAt")),
    ("payload", "record", "labels", "values"), ("payload", "record", "labels", "values", 0),
    ("payload", "record", "labels", "values", 0, "val"), ("payload", "record", "facets", 0),
    *(("payload", "record", "facets", 0, name) for name in ("index", "features")),
    *(("payload", "record", "facets", 0, "index", name) for name in ("byteStart", "byteEnd")),
    ("payload", "record", "facets", 0, "features", 0), ("payload", "record", "facets", 0, "features", 0, "tag"),
    ("payload", "record", "tags", 0), ("payload", "record", "langs", 0),
    *(("payload", "account", name) for name in ("active", "status", "time")),
]  # fmt: skip


def facet(start: int, end: int, tag: str) -> dict[str, Any]:
    return {"index": {"byteStart": start, "byteEnd": end},
            "features": [{"$type": "app.bsky.richtext.facet#tag", "tag": tag}]}


def whole(kind: str) -> dict[str, Any]:
    """A frame with a value in each of the places."""
    made = account(3, "deleted") if kind == "account" else commit(3, kind) if kind != "create" else post(
        3, facets=[facet(0, 3, "cats")], tags=["dogs"], labels={"values": [{"val": "none"}]})
    return json.loads(message({**made, "seq": 9}))


@given(st.sampled_from(["create", "update", "delete", "account"]), st.sampled_from(PLACES), VALUES)
def test_whatever_stands_in_a_field_is_read_or_broken_and_flows_as_described(
    kind: str, place: tuple[Any, ...], value: Any
) -> None:
    frame = json.dumps(put(whole(kind), place, value)).encode("utf-8", "surrogatepass")
    try:
        found = read(frame)
    except (Broken, Refused):
        return
    if isinstance(found, Event) and found.payload:
        assert examine(found.payload.body) == found.payload  # from the archive it comes the same
        if kind == "create":
            check_flow(found.payload._replace(position="host 1 2"))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_broken(frame: bytes) -> None:
    with pytest.raises((Broken, Refused)):
        read(frame)


def data(**record: Any) -> dict[str, Any]:
    found = read(message({**post(1, **record), "seq": 5}))
    assert isinstance(found, Event)
    assert found.payload is not None
    return orjson.loads(found.payload.body)["data"]


@pytest.mark.parametrize(("langs", "lang"), [
    (["en"], "en"), (["pt-BR", "en"], "pt"), (["zh_Hant"], "zh"), (["EN"], "en"), (["fil"], "fil"), ([], "und"),
    (None, "und"), (["english"], "und"), ([""], "und"), (["e"], "und"), ([5], "und"), ("en", "und"),
])
def test_the_language_is_the_first_one_without_its_region(langs: Any, lang: str) -> None:
    assert data(langs=langs)["lang"] == lang


@given(st.text(max_size=30), st.text(min_size=1, max_size=10), st.text(max_size=30))
def test_a_hashtag_is_where_its_bytes_are(before: str, tag: str, after: str) -> None:
    start = len(before.encode())
    found = data(text=f"{before}#{tag}{after}", facets=[facet(start, start + 1 + len(tag.encode()), tag)])
    [hashtag] = found["entities"]["hashtags"]
    assert found["text"][hashtag["start"]:hashtag["end"]] == f"#{hashtag['tag']}" == f"#{tag}"


def test_hashtags_beside_the_text_have_an_empty_place_at_its_end() -> None:
    found = data(text="日本 #a", tags=["b", "", 5], facets=[facet(7, 9, "a"), facet(-1, 99, "c"), facet(4, 2, "d")])
    assert found["entities"]["hashtags"] == [
        {"start": 3, "end": 5, "tag": "a"}, {"start": 5, "end": 5, "tag": "c"}, {"start": 2, "end": 2, "tag": "d"},
        {"start": 5, "end": 5, "tag": "b"}]


@pytest.mark.parametrize("label", sorted(ADULT))
def test_a_post_that_labels_itself_is_left_out(label: str) -> None:
    found = read(message({**post(1, labels={"values": [{"val": "x"}, {"val": label}]}), "seq": 5}))
    assert isinstance(found, Event)
    assert (found.payload, found.left_out) == (None, "adult")


@pytest.mark.parametrize("status", ["deleted", "takendown", "suspended", "deactivated", "", "another"])
def test_an_account_goes_at_the_time_by_which_its_posts_are_dated(status: str) -> None:
    """Its own time is of another clock, by which its last posts might stay, or the deletion be refused."""
    made = account(3, status, 60)
    made["account"] |= {"time": "2031-01-01T00:00:00Z", "active": False}
    found = read(message({**made, "seq": 5}))
    assert isinstance(found, Event)
    assert found.payload is not None
    [deleted] = orjson.loads(found.payload.body)["data"].values()
    assert deleted == {"event_at": "2026-11-27T09:01:00.000Z", "user": {"id": did(3)}}


@pytest.mark.parametrize("status", ["desynchronized", "throttled"])
def test_an_account_that_servers_are_not_in_step_about_stays(status: str) -> None:
    found = read(message({**account(3, status), "seq": 5}))
    assert isinstance(found, Event)
    assert found.payload is None


def test_a_post_without_room_for_its_address_is_broken() -> None:
    """The account's deletion would not reach it."""
    with pytest.raises(Broken):
        read(message({**post(1), "rkey": "a" * 480, "seq": 5}))


def test_what_the_server_says_of_itself() -> None:
    name = "network.bsky.jetstream.subscribeEvents#info"
    assert read(message({"$type": name, "name": "OutdatedCursor", "message": "m"})) == Notice("OutdatedCursor", "m")
    with pytest.raises(Refused, match="ConsumerTooSlow: m"):
        read(b'{"$type":"error","error":"ConsumerTooSlow","message":"m"}')


@pytest.mark.parametrize("time", [
    "", "2026-11-27", "2026-13-27T09:00:00Z", "1969-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "2026-11-27T09:00:00", 5,
    None,
])
def test_an_event_without_a_time_that_can_be_is_broken(time: Any) -> None:
    with pytest.raises(Broken):
        read(message({**commit(1), "seq": 5, "time": time}))


@pytest.mark.parametrize("seq", [-1, 1.5, True, "5", None, 10**15])
def test_an_event_without_a_number_that_can_be_is_broken(seq: Any) -> None:
    with pytest.raises(Broken):
        read(message({**commit(1), "seq": seq}))
