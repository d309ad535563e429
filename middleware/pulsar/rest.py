"""The broker's administration, asked by HTTP: the client in Python has none."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from middleware.errors import MiddlewareError, Unreachable

ANSWER_SECONDS, CHANGE_SECONDS = 10.0, 30.0
"""Beyond what the broker takes for the first topic of a namespace after its start, on cores that are busy."""

TEMPORARY = (500, 503)
"""Answers of a broker that is just starting, or whose bookie is."""


class Refused(MiddlewareError):
    """The broker answered that it did not do it; `status` is HTTP's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Answer(NamedTuple):
    content: Any
    """From JSON; None where there is none."""

    headers: Mapping[str, str]


class Rest:
    """Raises Unreachable where the broker does not answer in time, and Refused."""

    def __init__(self, uri: str) -> None:
        """`uri`: http://HOST:PORT."""
        self.uri = uri
        self._kept = threading.local()  # `connection` of the thread, to ask by: a new one costs as much as an answer

    def get(self, path: str) -> Any:
        return self.ask("GET", path).content

    def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Answer:
        try:
            status, text, headers = self._answer(method, f"/admin/v2/{path}", body, kind)
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"Pulsar does not answer at {self.uri}: {error or type(error).__name__}; is the instance "
                              "up?") from error
        if status >= 300:
            reason = f"{method} {path} at {self.uri}: {status} {text[:300].decode(errors='replace')}"
            raise Unreachable(f"Pulsar cannot answer yet: {reason}") if status in TEMPORARY else Refused(status, reason)
        return Answer(json.loads(text) if text and headers.get("Content-Type") == "application/json" else None, headers)

    def _answer(self, method: str, path: str, body: Any, kind: str) -> tuple[int, bytes, dict[str, str]]:
        """Raises OSError or HTTPException. What changes nothing is asked again where the broker has given up the
        connection meanwhile, but not where that does not answer."""
        changes = method not in ("GET", "HEAD")
        kept: http.client.HTTPConnection | None = None if changes else getattr(self._kept, "connection", None)
        if kept is not None:
            try:
                return _exchange(kept, method, path, body, kind)
            except (OSError, http.client.HTTPException) as error:
                self._kept.connection = None
                kept.close()
                if isinstance(error, TimeoutError):
                    raise
        address = urlsplit(self.uri)
        connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=CHANGE_SECONDS if changes else ANSWER_SECONDS
        )
        try:
            answer = _exchange(connection, method, path, body, kind)
            if not changes:
                self._kept.connection, connection = connection, None  # type: ignore[assignment]
            return answer
        finally:
            if connection is not None:
                connection.close()


def _exchange(
    connection: http.client.HTTPConnection, method: str, path: str, body: Any, kind: str
) -> tuple[int, bytes, dict[str, str]]:
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": kind})
    answer = connection.getresponse()
    return answer.status, answer.read(), dict(answer.getheaders())
