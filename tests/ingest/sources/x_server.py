"""A local stand-in for a stream over chunked HTTP, as X's and Wikimedia's are, that misbehaves as it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

Behaviour = Callable[["Stream"], None]


class Stream(BaseHTTPRequestHandler):
    """One connection: answers with what the server's next behaviour says."""

    protocol_version = "HTTP/1.1"
    server: XServer

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers.get("Authorization", "")))
        self.server.headers.append(self.headers)
        self.close_connection = True
        self.server.next_behaviour()(self)

    def begin(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *arguments: object) -> None:
        """Quiet."""


class XServer(ThreadingHTTPServer):
    """After the last behaviour every connection is held open and silent."""

    daemon_threads = True

    def __init__(self, behaviours: Iterable[Behaviour]) -> None:
        super().__init__(("127.0.0.1", 0), Stream)
        self.requests: list[tuple[str, str]] = []
        self.headers: list[Message] = []
        self.closing = threading.Event()
        self._behaviours = iter(behaviours)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def next_behaviour(self) -> Behaviour:
        return next(self._behaviours, stall)

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()


def sends(*chunks: bytes) -> Behaviour:
    """Sends the chunks and ends the stream properly."""
    def behave(stream: Stream) -> None:
        stream.begin()
        for chunk in chunks:
            stream.chunk(chunk)
        stream.end()

    return behave


def breaks_off(*chunks: bytes) -> Behaviour:
    """Sends the chunks and drops the connection."""
    def behave(stream: Stream) -> None:
        stream.begin()
        for chunk in chunks:
            stream.chunk(chunk)

    return behave


def answers(status: int, **headers: str) -> Behaviour:
    def behave(stream: Stream) -> None:
        stream.send_response(status)
        for name, value in headers.items():
            stream.send_header(name.replace("_", "-"), value)
        stream.send_header("Content-Length", "2")
        stream.end_headers()
        stream.wfile.write(b"{}")

    return behave


def stall(stream: Stream) -> None:
    stream.begin()
    stream.server.closing.wait(30)
