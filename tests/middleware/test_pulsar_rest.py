"""The administration of Pulsar, asked by HTTP; here a server that answers as it is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from middleware.errors import Unreachable
from middleware.pulsar import rest as pulsar_rest
from middleware.pulsar.rest import Refused, Rest


class Handler(BaseHTTPRequestHandler):
    """Answers with the status that the path ends with, and tells method and number of requests on its connection."""

    protocol_version = "HTTP/1.1"
    asked = 0

    def answer(self) -> None:
        self.asked += 1
        if self.path.startswith("/admin/v2/hangs/"):
            time.sleep(1)
            self.close_connection = True
            return
        content = b'["%s", %d]' % (self.command.encode(), self.asked)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(int(self.path.rpartition("/")[2]))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        if self.path.startswith("/admin/v2/last/"):
            self.close_connection = True  # without a word

    do_GET = do_PUT = answer

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def rest() -> Iterator[Rest]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield Rest(f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_is_asked_goes_over_one_connection(rest: Rest) -> None:
    assert [rest.get("clusters/200") for _ in range(3)] == [["GET", 1], ["GET", 2], ["GET", 3]]


def test_it_asks_again_where_the_connection_was_given_up(rest: Rest) -> None:
    assert rest.get("last/200") == ["GET", 1]
    assert rest.get("clusters/200") == ["GET", 1]


def test_it_waits_once_for_a_broker_that_hangs(rest: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulsar_rest, "ANSWER_SECONDS", 0.3)
    rest.get("clusters/200")
    began = time.monotonic()
    with pytest.raises(Unreachable, match="timed out"):
        rest.get("hangs/200")
    assert time.monotonic() - began < 0.6


def test_a_change_is_sent_once_over_a_connection_of_its_own(rest: Rest) -> None:
    rest.get("last/200")
    assert rest.ask("PUT", "clusters/200", {"a": 1}).content == ["PUT", 1]


@pytest.mark.parametrize(("status", "error"), [(404, Refused), (409, Refused), (500, Unreachable), (503, Unreachable)])
def test_a_refusal_is_told_with_its_status(rest: Rest, status: int, error: type[Exception]) -> None:
    with pytest.raises(error, match=rf"GET topics/{status} at http://127\.0\.0\.1:\d+: {status}"):
        rest.get(f"topics/{status}")


def test_a_broker_that_is_not_there_is_named() -> None:
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:1: .*is the instance up"):
        Rest("http://127.0.0.1:1").get("clusters")
