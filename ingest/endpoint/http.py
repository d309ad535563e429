"""`POST /api/v1/tweets`: tweets pushed by others go through the same archive and publisher as all others.

Served by gunicorn as `ingest.endpoint.http:create_app()`, one process; a run begins with the first tweet and ends with
the process. What an earlier process left unfinished is published at start.
"""

from __future__ import annotations

import hmac
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from common.hosts import refuse_foreign_hosts
from common.problem import problem
from common.push import PATH, Objection, Pushed, Refusal
from common.settings import Settings
from common.storage.disk import DiskFull
from ingest import retention_watch
from ingest.archive import bounds
from ingest.endpoint.inbox import Inbox, Unavailable
from ingest.sources.base import Payload, examine, parse

RETRY_AFTER_SECONDS = 5


def create_app(settings: Settings | None = None) -> Flask:
    settings = settings or Settings.load()
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = settings.ingest_max_body_bytes
    refuse_foreign_hosts(app, settings)
    inbox = Inbox(settings)
    app.extensions["inbox"] = inbox
    retention_watch.watch(settings)
    bounds.watch(settings)

    @app.post(PATH)
    def push() -> dict[str, Any]:
        _authorise(settings)
        inbox.check()
        return accept(inbox, request.get_data(), settings.max_event_bytes).model_dump()

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz")
    def readyz() -> dict[str, str]:
        """Whether a push would be published now."""
        inbox.check()
        inbox.check_store()
        inbox.check_room()
        return {"status": "ok"}

    app.register_error_handler(HTTPException, _problem)
    app.register_error_handler(Unavailable, _unavailable)
    app.register_error_handler(DiskFull, _no_room)
    return app


def accept(inbox: Inbox, body: bytes, max_event_bytes: int) -> Pushed:
    """Publishes the tweets of a body, one JSON object per line; returns when they are acknowledged.

    Raises Unavailable or DiskFull, as `Inbox.publish` does.
    """
    payloads: list[Payload] = []
    refused: list[Refusal] = []
    for number, line in enumerate(body.split(b"\n"), start=1):
        if not line.strip():
            continue
        payload = examine(line)
        if reason := objection(payload, max_event_bytes):
            refused.append(Refusal(line=number, reason=reason))
        else:
            payloads.append(payload)
    if payloads:
        inbox.publish(payloads)
    return Pushed(accepted=len(payloads), refused=refused)


def _authorise(settings: Settings) -> None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    known = settings.ingest_token.encode()
    if not known or scheme.lower() != "bearer" or not hmac.compare_digest(token.encode(), known):
        raise Unauthorised


class Unauthorised(HTTPException):
    code = HTTPStatus.UNAUTHORIZED
    description = "send the instance's ingest token as 'Authorization: Bearer …'; `murmur up` made it"


def objection(payload: Payload, max_event_bytes: int) -> Objection | None:
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
    response = problem(error.code or 500, error.description, error.name)
    if error.code == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _unavailable(error: Unavailable) -> Response:
    return _later(HTTPStatus.SERVICE_UNAVAILABLE, str(error))


def _no_room(error: DiskFull) -> Response:
    return _later(HTTPStatus.INSUFFICIENT_STORAGE, f"{error}; none of the tweets was taken: push them again")


def _later(status: HTTPStatus, detail: str) -> Response:
    response = problem(status, detail)
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response
