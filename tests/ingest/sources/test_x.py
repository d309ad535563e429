from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import pytest

from common.settings import Settings
from ingest.sources.x import Backoff, Refused, SampledStream
from tests.ingest.sources.x_server import Behaviour, XServer, answers, breaks_off, sends, stall
from tests.stack import eventually

FAST = 0.01
"""Waits are this much shorter than X asks for."""


def tweet(number: int) -> bytes:
    return b'{"data":{"id":"%d","author_id":"9","text":"%b"}}' % (number, b"x" * 700)


@contextmanager
def streaming(*behaviours: Behaviour, stall_s: float = 5) -> Iterator[tuple[SampledStream, XServer]]:
    with XServer(behaviours) as server:
        settings = Settings(x_api_url=server.url, x_bearer_token="secret")
        source = SampledStream(settings, Backoff(FAST), stall_s)
        try:
            yield source, server
        finally:
            source.close()


def take(source: SampledStream, count: int) -> list[bytes]:
    taken: list[bytes] = []

    def enough() -> bool:
        taken.extend(payload.body for payload in source.take([0] * 100))
        return len(taken) >= count

    eventually(f"{count} tweets come", enough, 10)
    return taken


def test_tweets_come_and_the_fields_we_need_are_asked_for() -> None:
    with streaming(sends(tweet(1) + b"\r\n", tweet(2) + b"\r\n")) as (source, server):
        assert take(source, 2) == [tweet(1), tweet(2)]
        path, authorization = server.requests[0]
    assert authorization == "Bearer secret"
    assert urlsplit(path).path == "/2/tweets/sample/stream"
    asked = parse_qs(urlsplit(path).query)
    assert {"author_id", "created_at", "entities", "lang"} <= set(asked["tweet.fields"][0].split(","))
    assert asked["expansions"] == ["author_id"]


def test_keep_alives_and_lines_cut_anywhere_do_no_harm() -> None:
    line = tweet(1) + b"\r\n"
    with streaming(sends(b"\r\n", line[:3], line[3:700], b"\r\n".join([line[700:-2], b"", b"", tweet(2), b""]))) as (
        source, _
    ):
        assert take(source, 2) == [tweet(1), tweet(2)]


@pytest.mark.parametrize("failure", [
    breaks_off(tweet(5)[:100]),
    answers(503),
    answers(429, x_rate_limit_reset="0"),
    sends(b'{"errors":[{"title":"operational-disconnect"}]}\r\n'),
    sends(),
], ids=["mid-line", "503", "429", "error object", "closed"])
def test_it_connects_again(failure: Behaviour) -> None:
    with streaming(sends(tweet(1) + b"\r\n"), failure, sends(tweet(2) + b"\r\n")) as (source, server):
        assert take(source, 2) == [tweet(1), tweet(2)]
        assert len(server.requests) >= 3


def test_a_silent_connection_is_given_up() -> None:
    with streaming(stall, sends(tweet(1) + b"\r\n"), stall_s=0.3) as (source, _):
        assert take(source, 1) == [tweet(1)]


def test_a_broken_line_goes_on_as_it_is() -> None:
    with streaming(sends(b'{"data":{"id":\r\n', tweet(2) + b"\r\n")) as (source, _):
        assert take(source, 2) == [b'{"data":{"id":', tweet(2)]


@pytest.mark.parametrize(("status", "says"), [(401, "MURMUR_X_BEARER_TOKEN"), (403, "plan")])
def test_it_stops_where_trying_again_does_not_help(status: int, says: str) -> None:
    with streaming(sends(tweet(1) + b"\r\n"), answers(status)) as (source, server):
        assert take(source, 1) == [tweet(1)]

        def refused() -> Refused | None:
            try:
                source.take([0])
            except Refused as error:
                return error
            return None

        assert says in str(eventually("it is refused", refused, 10))
        assert len(server.requests) == 2


def test_what_was_received_and_not_taken_is_handed_out_when_it_ends() -> None:
    lines = [tweet(number) + b"\r\n" for number in range(20)]
    with streaming(sends(*lines), stall) as (source, server):
        first = take(source, 1)
        eventually("it connects again", lambda: len(server.requests) >= 2, 10)
        assert len(first) + len(source.rest()) == 20
        assert source.rest() == []


def test_a_token_is_needed() -> None:
    with pytest.raises(ValueError, match="MURMUR_X_BEARER_TOKEN"):
        SampledStream(Settings(x_bearer_token=""))


def test_waits_grow_and_are_bounded() -> None:
    backoff = Backoff()
    assert [backoff.after(None) for _ in range(3)] == [0.25, 0.5, 0.75]
    assert max(backoff.after(None) for _ in range(200)) == 16
    backoff.succeeded()
    assert [backoff.after(503) for _ in range(3)] == [5, 10, 20]
    assert max(backoff.after(503) for _ in range(20)) == 320
    backoff.succeeded()
    assert backoff.after(429) == 60
    assert backoff.after(429, reset_in=12) == 12
    assert backoff.after(429, reset_in=time.time()) == 900
