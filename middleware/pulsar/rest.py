"""The broker's administration, asked by HTTP: the client in Python has none."""

from __future__ import annotations

import http.client
import json
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

    def get(self, path: str) -> Any:
        return self.ask("GET", path).content

    def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Answer:
        address = urlsplit(self.uri)
        seconds = ANSWER_SECONDS if method in ("GET", "HEAD") else CHANGE_SECONDS
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=seconds)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, f"/admin/v2/{path}", content, {"Content-Type": kind})
            answer = connection.getresponse()
            text, status, headers = answer.read(), answer.status, dict(answer.getheaders())
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"Pulsar does not answer at {self.uri}: {error or type(error).__name__}; is the instance "
                              "up?") from error
        finally:
            connection.close()
        if status >= 300:
            reason = f"{method} {path} at {self.uri}: {status} {text[:300].decode(errors='replace')}"
            raise Unreachable(f"Pulsar cannot answer yet: {reason}") if status in TEMPORARY else Refused(status, reason)
        return Answer(json.loads(text) if text and headers.get("Content-Type") == "application/json" else None, headers)
