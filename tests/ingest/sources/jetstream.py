"""A local stand-in for a host of Bluesky's Jetstream v2 that speaks its protocol over WebSocket and misbehaves as it is
told. What it sends is invented."""

from __future__ import annotations

import http
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve
from websockets.typing import Subprotocol

BEGAN = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)
PARAMETERS = {"cursor", "kinds", "dids", "collections", "maxMessageSizeBytes", "zstdDictionary"}
LEXICON = "network.bsky.jetstream.subscribeEvents"

Behaviour = Callable[["Jetstream", ServerConnection, Iterator[bytes]], None]


def at(seconds: float) -> str:
    return (BEGAN + timedelta(seconds=seconds)).isoformat(timespec="microseconds")[:-6] + "Z"


def did(number: int) -> str:
    return f"did:plc:invented{number:04}"


def rkey(number: int) -> str:
    return f"3k{number:08}"


def commit(number: int, operation: str = "create", **more: Any) -> dict[str, Any]:
    """Of post `number`, one every tenth of a second."""
    made = {
        "$type": f"{LEXICON}#commit", "did": did(number % 50), "time": at(number / 10), "rev": f"3r{number}",
        "operation": operation, "collection": "app.bsky.feed.post", "rkey": rkey(number),
    }
    if operation != "delete":
        record = {"$type": "app.bsky.feed.post", "text": f"invented post {number}", "langs": ["en"],
                  "createdAt": at(number / 10)}
        made |= {"cid": "bafyinvented", "record": record}
    return made | more


def post(number: int, **record: Any) -> dict[str, Any]:
    made = commit(number)
    made["record"] |= record
    return made


def account(number: int, status: str | None, seconds: float = 0) -> dict[str, Any]:
    inner: dict[str, Any] = {"did": did(number), "active": status is None, "seq": 7, "time": at(seconds)}
    if status:
        inner["status"] = status
    return {"$type": f"{LEXICON}#account", "did": did(number), "time": at(seconds), "account": inner}


def message(payload: dict[str, Any]) -> bytes:
    return json.dumps({"$type": "message", "payload": payload}).encode()


class Jetstream:
    """A host, which numbers events from `first_seq` on and has them from `floor` on. A connection gets what the next of
    the behaviours says; after the last of them, everything. `ahead_s`: how much later it saw everything."""

    def __init__(self, events: Iterable[dict[str, Any]], *behaviours: Behaviour, first_seq: int = 1, floor: int = 0,
                 ahead_s: float = 0, port: int = 0) -> None:
        self.events = list(events)
        self.requests: list[dict[str, list[str]]] = []
        self.agents: list[str] = []
        self.said_by_clients: list[Any] = []
        self.closing = threading.Event()
        self.first_seq, self.floor, self.ahead_s = first_seq, floor or first_seq, ahead_s
        self._behaviours = iter(behaviours)
        self._server = serve(
            self._serve, "127.0.0.1", port, process_request=self._check, compression=None, ping_interval=None,
            close_timeout=0.5, subprotocols=[Subprotocol("xrpc.v1.json")])
        self.address = f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}"

    @property
    def cursors(self) -> list[int | None]:
        """What each connection asked to begin with."""
        return [int(query["cursor"][0]) if "cursor" in query else None for query in self.requests]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self._server.shutdown()

    def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        parts = urlsplit(request.path)
        query = parse_qs(parts.query)
        self.requests.append(query)
        self.agents.append(request.headers.get("User-Agent", ""))
        if parts.path != f"/xrpc/{LEXICON}":
            return refusal(connection, "NotFound", parts.path, http.HTTPStatus.NOT_FOUND)
        if unknown := query.keys() - PARAMETERS:
            return refusal(connection, "InvalidRequest", f"unknown parameter {sorted(unknown)}")
        cursor = int(query.get("cursor", ["0"])[0])
        if 0 < cursor < self.floor:
            return refusal(connection, "CursorTooOld", f"cursor {cursor} below lookback floor {self.floor}")
        return None

    def _serve(self, connection: ServerConnection) -> None:
        query = parse_qs(urlsplit(connection.request.path).query)  # type: ignore[union-attr]
        cursor = int(query["cursor"][0]) if "cursor" in query else None
        behave = next(self._behaviours, sends())
        threading.Thread(target=self._hear, args=(connection,), daemon=True).start()
        with suppress(ConnectionClosed, OSError):
            behave(self, connection, self._frames(connection, cursor))

    def _hear(self, connection: ServerConnection) -> None:
        """Any data from a client ends its connection."""
        with suppress(ConnectionClosed):
            self.said_by_clients.append(connection.recv())
            connection.close(1008)

    def _frames(self, connection: ServerConnection, cursor: int | None) -> Iterator[bytes]:
        """From the cursor on; then what is added, until the host is closed."""
        index = self._begins(cursor)
        if cursor is not None and cursor >= 10**15 and index is None:
            index = self.floor - self.first_seq
            yield message({"$type": f"{LEXICON}#info", "name": "OutdatedCursor",
                           "message": f"starting at seq {self.floor}"})
        index = len(self.events) if index is None else index
        while not self.closing.is_set():
            if index < len(self.events):
                yield message(self._event(index))
                index += 1
            else:
                self.closing.wait(0.01)

    def _begins(self, cursor: int | None) -> int | None:
        """None: at the live tip, or before the floor."""
        if cursor is None:
            return 0 if self.floor == self.first_seq else len(self.events)
        if cursor < 10**15:
            return cursor - self.first_seq
        since = (datetime.fromtimestamp(cursor / 1e6, UTC) - BEGAN).total_seconds()
        floor = self.floor - self.first_seq
        if floor > 0 and self._seconds(floor) > since:
            return None
        return next((n for n in range(len(self.events)) if self._seconds(n) >= since), len(self.events))

    def _seconds(self, index: int) -> float:
        return (datetime.fromisoformat(self._event(index)["time"]) - BEGAN).total_seconds()

    def _event(self, index: int) -> dict[str, Any]:
        event = self.events[index]
        time = datetime.fromisoformat(event["time"]) + timedelta(seconds=self.ahead_s)
        return {**event, "seq": self.first_seq + index, "time": time.isoformat(timespec="microseconds")[:-6] + "Z"}


def refusal(connection: ServerConnection, error: str, why: str, status: int = http.HTTPStatus.BAD_REQUEST) -> Response:
    response = connection.respond(http.HTTPStatus(status), json.dumps({"error": error, "message": why}))
    response.headers["Connection"] = "close"
    return response


def sends(count: int | None = None) -> Behaviour:
    """So many frames, then it closes."""
    def behave(host: Jetstream, connection: ServerConnection, frames: Iterator[bytes]) -> None:
        for _, frame in zip(range(count if count is not None else 1 << 60), frames, strict=False):
            connection.send(frame, text=True)
    return behave


def paced(count: int, then: Behaviour, at_once: int = 50, pause_s: float = 0.02) -> Behaviour:
    """So many frames, some at once, and then something else."""
    def behave(host: Jetstream, connection: ServerConnection, frames: Iterator[bytes]) -> None:
        for _ in range(count // at_once):
            sends(at_once)(host, connection, frames)
            host.closing.wait(pause_s)
        then(host, connection, frames)
    return behave


def cuts(count: int) -> Behaviour:
    """So many frames, and the next one breaks off in its middle."""
    def behave(host: Jetstream, connection: ServerConnection, frames: Iterator[bytes]) -> None:
        sends(count)(host, connection, frames)
        connection.socket.sendall(b"\x81\x7e\x04\x00" + next(frames)[:100])
        connection.socket.shutdown(2)
    return behave


def falls_silent(count: int) -> Behaviour:
    def behave(host: Jetstream, connection: ServerConnection, frames: Iterator[bytes]) -> None:
        sends(count)(host, connection, frames)
        host.closing.wait(30)
    return behave


def slow(pause_s: float) -> Behaviour:
    def behave(host: Jetstream, connection: ServerConnection, frames: Iterator[bytes]) -> None:
        for frame in frames:
            connection.send(frame, text=True)
            host.closing.wait(pause_s)
    return behave


def repeats(times: int) -> Behaviour:
    def behave(host: Jetstream, connection: ServerConnection, frames: Iterator[bytes]) -> None:
        for frame in frames:
            for _ in range(times):
                connection.send(frame, text=True)
    return behave


def out_of_order(count: int) -> Behaviour:
    """That many frames from the last to the first, then as it should be."""
    def behave(host: Jetstream, connection: ServerConnection, frames: Iterator[bytes]) -> None:
        for frame in reversed([next(frames) for _ in range(count)]):
            connection.send(frame, text=True)
        sends()(host, connection, frames)
    return behave


def says(*sent: bytes | str, then: Behaviour | None = None) -> Behaviour:
    """These frames, whatever they are: bytes that claim to be text, too."""
    def behave(host: Jetstream, connection: ServerConnection, frames: Iterator[bytes]) -> None:
        for frame in sent:
            connection.send(frame, text=True)
        (then or falls_silent(0))(host, connection, frames)
    return behave


def fails(error: str, count: int = 0) -> Behaviour:
    """The error frame, and the end."""
    def behave(host: Jetstream, connection: ServerConnection, frames: Iterator[bytes]) -> None:
        sends(count)(host, connection, frames)
        connection.send(json.dumps({"$type": "error", "error": error, "message": "invented"}))
    return behave
