"""An error as application/problem+json (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, json


def problem(status: int, detail: str | None, title: str = "") -> Response:
    """`title` is the status in words unless one is given."""
    body = {"type": "about:blank", "title": title or HTTPStatus(status).phrase, "status": int(status), "detail": detail}
    return Response(json.dumps(body), status=int(status), content_type="application/problem+json")
