"""Bluesky, from local hosts that speak Jetstream's protocol and misbehave."""

from __future__ import annotations

import json
import logging
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import orjson
import pytest

from common.settings import Settings
from ingest.sources import live
from ingest.sources.base import Payload
from ingest.sources.bluesky import PATH, REWIND_US, Bluesky, Position
from ingest.sources.live import identifier
from tests.ingest.sources.jetstream import (
    Behaviour,
    Jetstream,
    account,
    commit,
    cuts,
    did,
    fails,
    falls_silent,
    out_of_order,
    post,
    repeats,
    rkey,
    says,
    sends,
    slow,
)
from tests.ingest.sources.taking import FAST, WAIT_SECONDS, ids, take
from tests.search.servers import free_port
from tests.stack import eventually


@contextmanager
def listening(
    *hosts: Jetstream | str, archived: Sequence[Payload] = (), since_us: int | None = None, silence_s: float = 20
) -> Iterator[Bluesky]:
    addresses = [host if isinstance(host, str) else host.address for host in hosts]
    settings = Settings(bluesky_hosts=",".join(addresses), live_silence_s=silence_s)
    source = Bluesky(settings, archived, since_us, FAST)
    try:
        yield source
    finally:
        source.close()
        source._thread.join(WAIT_SECONDS)


def of(*numbers: int) -> list[str]:
    return [identifier(did(number % 50), rkey(number)) for number in numbers]


def closed() -> str:
    return f"ws://127.0.0.1:{free_port()}"


def test_posts_come_as_tweets_of_the_contract() -> None:
    with Jetstream([commit(7)]) as host, listening(host) as source:
        [payload] = take(source, 1)
        [asked], [agent] = host.requests, host.agents
    assert orjson.loads(payload.body) == {"data": {
        "id": of(7)[0], "author_id": did(7), "created_at": "2026-11-27T09:00:00.700Z", "text": "invented post 7",
        "lang": "en", "entities": {"hashtags": []}, "url": f"https://bsky.app/profile/{did(7)}/post/{rkey(7)}",
    }}  # fmt: skip
    assert 0 < int(of(7)[0]) < 1 << 63
    assert (payload.tweet, payload.author_id) == (payload.body, did(7))
    assert payload.position == f"{host.address} 1 1795770000700000"
    assert asked == {"kinds": ["commit", "account"], "collections": ["app.bsky.feed.post"],
                     "maxMessageSizeBytes": ["1048576"]}
    assert agent.startswith("murmuration/")


def test_what_is_deleted_is_told() -> None:
    events = [commit(1), commit(2), commit(1, "delete"), account(2, "takendown", 9), account(3, None),
              account(4, "throttled"), commit(5)]
    with Jetstream(events) as host, listening(host) as source:
        _, _, deleted, gone, last = take(source, 5)
    assert orjson.loads(deleted.body) == {"data": {"delete": {
        "event_at": "2026-11-27T09:00:00.100Z", "tweet": {"id": of(1)[0], "author_id": did(1)}}}}
    assert orjson.loads(gone.body) == {"data": {"user_delete": {
        "event_at": "2026-11-27T09:00:09.000Z", "user": {"id": did(2)}}}}
    assert (deleted.author_id, gone.author_id) == (did(1), did(2))
    assert ids([last]) == of(5)


def test_updates_and_what_labels_itself_as_adult_are_left_out_and_counted() -> None:
    labels = {"$type": "com.atproto.label.defs#selfLabels", "values": [{"val": "nudity"}]}
    events = [post(1, labels=labels), commit(2, "update"), commit(3)]
    with Jetstream(events) as host, listening(host) as source:
        assert ids(take(source, 1)) == of(3)
        assert source.left_out() == {"adult": 1, "updates": 1, "repeated": 0, "broken": 0}


@pytest.mark.parametrize("behaviour", [
    sends(3), cuts(3), falls_silent(3), fails("ConsumerTooSlow", 3), fails("", 3), repeats(3), out_of_order(6),
    slow(0.01),
    says(b"{", b"\xff\xfe", b"[1]", "null", json.dumps({"$type": "message"}), then=sends(3)),
], ids=["closes", "cut", "silent", "too slow", "nameless error", "repeats", "out of order", "slow", "broken"])
def test_every_post_comes_once_whatever_happens_to_a_connection(behaviour: Behaviour) -> None:
    with Jetstream(map(commit, range(12)), behaviour) as host, listening(host, silence_s=0.5) as source:
        assert sorted(ids(take(source, 12))) == sorted(of(*range(12)))
        assert source.take([0]) == []
        assert host.said_by_clients == []


def test_it_goes_on_with_the_last_event_of_the_same_host() -> None:
    with Jetstream(map(commit, range(6)), sends(3), first_seq=500) as host, listening(host) as source:
        assert ids(take(source, 6)) == of(*range(6))
        assert host.cursors[:2] == [None, 502]
        assert source.left_out()["repeated"] == 1


def test_what_is_left_out_counts_as_a_place_to_go_on_from() -> None:
    events = [commit(0), commit(1, "update"), commit(2, "update"), commit(3)]
    with Jetstream(events, sends(3)) as host, listening(host) as source:
        assert ids(take(source, 2)) == of(0, 3)
        assert host.cursors == [None, 3]


def test_another_host_begins_before_the_time_of_the_last_event() -> None:
    """It has numbers of its own, and saw everything three seconds later."""
    with (
        Jetstream(map(commit, range(2000)), sends(1800), *[fails("Gone")] * 100) as one,
        Jetstream(map(commit, range(2000)), first_seq=90_000, ahead_s=3) as other,
        listening(one, other) as source,
    ):
        assert ids(take(source, 2000)) == of(*range(2000))
        assert other.cursors == [1795770179900000 - REWIND_US]
        assert source.left_out()["repeated"] == 1231  # those of 122.9 s, and the last one


def test_hosts_that_do_not_work_are_asked_in_turn(caplog: pytest.LogCaptureFixture) -> None:
    with (
        Jetstream([], falls_silent(0), falls_silent(0)) as silent, Jetstream([commit(1)]) as good,
        listening(closed(), silent, good, silence_s=0.2) as source,
    ):
        assert ids(take(source, 1)) == of(1)


def test_a_host_that_gives_posts_is_asked_again_however_soon_it_ends_the_connection() -> None:
    with (
        Jetstream(map(commit, range(12)), *[cuts(4)] * 3) as one, Jetstream(map(commit, range(12))) as other,
        listening(one, other) as source,
    ):
        assert ids(take(source, 12)) == of(*range(12))
        assert one.cursors == [None, 4, 7, 10]
        assert other.requests == []


def test_a_host_that_ends_every_connection_soon_is_left_for_another() -> None:
    with (
        Jetstream(map(commit, range(12)), *[cuts(2)] * 100) as one, Jetstream(map(commit, range(12))) as other,
        listening(one, other) as source,
    ):
        assert ids(take(source, 12)) == of(*range(12))
        assert len(one.cursors) == live.SHORT_ONES + 1
        assert len(other.cursors) == 1


def test_a_host_that_gives_only_what_came_before_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HEALTHY_SECONDS", 1e6)
    with (
        Jetstream([commit(0)], *[sends(1)] * 100) as one, Jetstream(map(commit, range(3))) as other,
        listening(one, other) as source,
    ):
        assert ids(take(source, 3)) == of(*range(3))
        assert one.cursors == [None, 1]


def test_a_host_that_sends_nothing_at_first_is_left_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts were seen that take connections and send nothing; one that has sent something is waited for longer."""
    monkeypatch.setattr("ingest.sources.bluesky.FIRST_SECONDS", 0.2)
    with (
        Jetstream([], *[falls_silent(0)] * 9) as silent, Jetstream([commit(1)]) as good,
        listening(silent, good, silence_s=3600) as source,
    ):
        assert ids(take(source, 1)) == of(1)
        assert len(silent.requests) == 1


def test_a_host_that_is_not_reached_is_named_with_the_way_out_and_tried_on(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    port = free_port()
    with listening(f"ws://127.0.0.1:{port}") as source:
        eventually("it is named", lambda: f"ws://127.0.0.1:{port} is not reached" in caplog.text, WAIT_SECONDS)
        assert "murmur ingest --source synthetic" in caplog.text
        eventually("it is tried on", lambda: caplog.text.count("again in") > 2, WAIT_SECONDS)
        assert caplog.text.count("is not reached") == 1
        assert source.take([0]) == []
        assert re.fullmatch(rf"bluesky: ws://127\.0\.0\.1:{port} is not reached \(.+\)", source.problem())


def test_what_is_said_to_keep_it_goes_when_a_host_answers_and_comes_back_with_the_loss_of_all(
    caplog: pytest.LogCaptureFixture
) -> None:
    with ExitStack() as sources:
        with Jetstream(map(commit, range(9))) as host:
            source = sources.enter_context(listening(closed(), host))
            assert ids(take(source, 9)) == of(*range(9))
            assert (caplog.text.count("is not reached"), source.problem()) == (1, "")
        eventually("none is reached", source.problem, WAIT_SECONDS)


def test_a_host_that_takes_no_connection_is_named_before_anything_fails(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a name server does not answer."""
    monkeypatch.setattr(live, "NAMED_SECONDS", 10)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        address = f"ws://127.0.0.1:{deaf.getsockname()[1]}"
        with listening(address) as source:
            eventually("it is named", lambda: source.take([0]) or "it does not answer" in caplog.text, WAIT_SECONDS)
    assert address in caplog.text


def test_a_position_that_is_too_old_is_told_with_what_is_missing(caplog: pytest.LogCaptureFixture) -> None:
    """Here, the posts 1 to 599."""
    archived = _archived("one", 1, 100_000)
    with Jetstream(map(commit, range(1200)), floor=601) as host:
        with listening(host, archived=_archived(host.address, 1, 100_000)) as source:
            assert ids(take(source, 600)) == of(*range(600, 1200))
        assert host.cursors[:2] == [1, 1795770000100000 - REWIND_US]
        assert "posts from 2026-11-27T09:00:00.100Z to 2026-11-27T09:01:00.000Z are missing" in caplog.text
        caplog.clear()
        with listening(host, archived=archived) as source:  # of another host: the time is moved to the oldest event
            assert ids(take(source, 600)) == of(*range(600, 1200))
        assert "OutdatedCursor" in caplog.text
        assert "posts from 2026-11-27T09:00:00.100Z to 2026-11-27T09:01:00.000Z are missing" in caplog.text


def _archived(host: str, seq: int, after_us: int) -> list[Payload]:
    body = b'{"data":{"id":"5","author_id":"x"}}'
    return [Payload(body, body, "x", str(Position(host, seq, 1795770000000000 + after_us)))]


def test_a_host_that_has_nothing_of_that_time_is_taken_from_now_on(caplog: pytest.LogCaptureFixture) -> None:
    with (
        Jetstream(map(commit, range(1200)), floor=10**16) as host,
        listening(host, archived=_archived(host.address, 1, 100_000)) as source,
    ):
        eventually("it is asked without a position", lambda: None in host.cursors, WAIT_SECONDS)
        host.events.append(commit(1200))
        assert ids(take(source, 1)) == of(1200)
    assert "2026-11-27T09:00:00.100Z to 2026-11-27T09:02:00.000Z are missing" in caplog.text


def test_a_restart_goes_on_behind_what_was_archived_and_knows_it() -> None:
    with Jetstream(map(commit, range(300))) as host:
        with listening(host) as source:
            archived = take(source, 300)[:200]
        with listening(host, archived=archived) as source:
            assert ids(take(source, 100)) == of(*range(200, 300))
            assert host.cursors[-1] == 200
        other = [payload._replace(position=str(Position("gone", 7, Position.parsed(payload.position).time_us)))
                 for payload in archived]
        with listening(host, archived=other) as source:  # the host that it came from is no longer in the setting
            assert ids(take(source, 100)) == of(*range(200, 300))
            assert source.left_out()["repeated"] == 200


def test_where_the_archive_is_gone_it_goes_on_at_the_time_of_the_last_run() -> None:
    with Jetstream(map(commit, range(3000))) as host:
        with listening(host, since_us=1795770000000000 + REWIND_US + 100_000_000) as source:
            assert ids(take(source, 2000)) == of(*range(1000, 3000))
        with listening(host, archived=_archived(host.address, 2990, 299_000_000), since_us=1795770000000000) as source:
            assert ids(take(source, 10))[-1:] == of(2999)
        assert host.cursors == [1795770100000000, 2990]


def test_hours_are_caught_up_within_bounds() -> None:
    """Two hours of posts with a text of 3,000 letters: many times what may wait to be taken."""
    events = [post(number, text="x" * 3000) for number in range(20_000)]
    with Jetstream(events) as host, listening(host) as source:
        eventually("it is full", lambda: source._inbox._size >= live.GROUP_BYTES, WAIT_SECONDS)
        assert source._inbox._size < live.GROUP_BYTES + 10_000
        assert ids(take(source, 20_000)) == of(*range(20_000))
        assert source._inbox._size == 0


def test_what_an_older_protocol_calls_its_parameters_is_refused_by_the_server() -> None:
    """So that the stand-in would tell if ours were none of these."""
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect
    with Jetstream([]) as host:
        with pytest.raises(InvalidStatus) as refused, connect(f"{host.address}{PATH}?wantedCollections=a"):
            pass
        assert refused.value.response.status_code == 400
        assert b"InvalidRequest" in refused.value.response.body


def test_a_refusal_is_told_and_tried_again(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("ingest.sources.bluesky.POSTS", "a&wantedDids=b")
    monkeypatch.setattr("ingest.sources.bluesky.urlencode", lambda query: "wantedCollections=a")
    with Jetstream([commit(1)]) as host, listening(host) as source:
        eventually("it is tried again", lambda: len(host.requests) > 2, WAIT_SECONDS)
        assert "HTTP 400 InvalidRequest unknown parameter ['wantedCollections']" in caplog.text
        monkeypatch.undo()
        assert ids(take(source, 1)) == of(1)


def test_a_failure_that_nobody_expected_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: bytes) -> None:
        raise RuntimeError("as nobody expects")
    monkeypatch.setattr("ingest.sources.bluesky.read", broken)
    with Jetstream([commit(1)]) as host, listening(host) as source:
        def failed() -> bool:
            try:
                return bool(source.take([0]))
            except RuntimeError as error:
                return str(error) == "as nobody expects"
        eventually("it fails", failed, WAIT_SECONDS)


@pytest.mark.parametrize("text", ["", "host", "host 1", "host 1 2 3", "host -1 2", "host 1 x", "host ² 1"])
def test_a_position_that_is_none_is_none(text: str) -> None:
    assert Position.parsed(text) is None
    assert Position.parsed(str(Position("h", 1, 2))) == Position("h", 1, 2)


