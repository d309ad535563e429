"""`POST /api/v1/tweets`: tweets pushed by others go through the same archive and publisher as all others.

Served by gunicorn as `ingest.http:create_app()`, one process; a run begins with the first tweet and ends with the
process. What an earlier process left unfinished is published at start.
"""

from __future__ import annotations

import hmac
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, json, request
from werkzeug.exceptions import HTTPException

from common.hosts import refuse_foreign_hosts
from common.settings import Settings
from ingest import retention
from ingest.inbox import Inbox, Unavailable
from ingest.source import Payload, examine, parse

RETRY_AFTER_SECONDS = 5


def create_app(settings: Settings | None = None) -> Flask:
    settings = settings or Settings.load()
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = settings.ingest_max_body_bytes
    refuse_foreign_hosts(app, settings)
    inbox = Inbox(settings)
    app.extensions["inbox"] = inbox
    retention.watch(settings)

    @app.post("/api/v1/tweets")
    def push() -> dict[str, Any]:
        """One JSON object per line; returns when the accepted ones are acknowledged by the middleware.

        `refused` names each line (from 1) that was not accepted, and why; the others are accepted all the same.
        """
        _authorise(settings)
        payloads, refused = [], []
        for number, line in enumerate(request.get_data().split(b"\n"), start=1):
            if not line.strip():
                continue
            payload = examine(line)
            if reason := objection(payload, settings.max_event_bytes):
                refused.append({"line": number, "reason": reason})
            else:
                payloads.append(payload)
        if payloads:
            inbox.publish(payloads)
        return {"accepted": len(payloads), "refused": refused}

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz")
    def readyz() -> dict[str, str]:
        inbox.check()
        return {"status": "ok"}

    app.register_error_handler(HTTPException, _problem)
    app.register_error_handler(Unavailable, _unavailable)
    return app


def _authorise(settings: Settings) -> None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    known = settings.ingest_token.encode()
    if not known or scheme.lower() != "bearer" or not hmac.compare_digest(token.encode(), known):
        raise Unauthorised


class Unauthorised(HTTPException):
    code = HTTPStatus.UNAUTHORIZED
    description = "send the instance's ingest token as 'Authorization: Bearer …'; `murmur up` made it"


def objection(payload: Payload, max_event_bytes: int) -> str | None:
    """Why a line is not accepted, in the words of `tweets-rejected`; None if it is."""
    if len(payload.body) + 512 > max_event_bytes:
        return "too-large"
    if payload.tweet is not None:
        return None
    try:
        payload.body.decode()
    except UnicodeDecodeError:
        return "invalid-utf8"
    value = parse(payload.body)
    unreadable = payload.body != b"null" if value is None else isinstance(value, dict)  # too deep to be written anew
    return "not-json" if unreadable else "not-an-object"


def _problem(error: HTTPException) -> Response:
    response = _problem_json(error.code or 500, error.name, error.description)
    if error.code == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _unavailable(error: Unavailable) -> Response:
    response = _problem_json(HTTPStatus.SERVICE_UNAVAILABLE, "Service Unavailable", str(error))
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _problem_json(status: int, title: str, detail: str | None) -> Response:
    body = {"type": "about:blank", "title": title, "status": int(status), "detail": detail}
    return Response(json.dumps(body), status=int(status), content_type="application/problem+json")
