"""Who may do something: a page of ours, in a browser that has shown the token once."""

from __future__ import annotations

import hmac
import logging
import secrets
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, abort, current_app, request, session
from pydantic import BaseModel, ConfigDict

from common import experiments
from common.control import PATH, SESSION, token_file
from common.security_headers import SECURITY_HEADERS
from common.settings import Settings
from control import actions
from control.problems import asked

log = logging.getLogger(__name__)

READING = ("GET", "HEAD", "OPTIONS")

blueprint = Blueprint("session", __name__, url_prefix=PATH)


class Shown(BaseModel):
    model_config = ConfigDict(extra="forbid")

    token: str


def register(app: Flask) -> None:
    """Has every request that would change something checked first, and every one of them told in the log."""

    @app.before_request
    def check() -> None:
        if request.method in READING:
            return
        if not is_own(request.headers.get("Origin", ""), request.headers["Host"]):
            abort(403, "this was not asked by the page of this instance: the header Origin names another, or none")
        if request.mimetype != "application/json":
            abort(415, "send JSON, as application/json")
        if request.path != SESSION and "id" not in session:
            abort(401, "open the page by the address with the token, which `murmur up` prints on a terminal")

    @app.after_request
    def tell(response: Response) -> Response:
        if request.method not in READING:
            asked_for = request.url_rule or repr(request.path)  # as it is, it could feign lines of the log
            log.info("%s, session %s: %s %s: %d", request.remote_addr, session.get("id", "none"), request.method,
                     asked_for, response.status_code)
        response.headers.update(SECURITY_HEADERS)
        return response


def is_own(origin: str, host: str) -> bool:
    """Whether a page of the server of that name asks, port included: other ports are other servers of the machine."""
    try:
        found = urlsplit(origin)
    except ValueError:
        return False
    return found.scheme in ("http", "https") and found.netloc.lower() == host.lower()


@blueprint.post("/session")
def begin() -> dict[str, Any]:
    """Exchanges the token for a cookie. It may be shown again, by another tab or browser, until the instance ends."""
    settings: Settings = current_app.extensions["settings"]
    if not hmac.compare_digest(asked(Shown).token.encode(), token_file(settings).read_bytes()):
        abort(401, "this is not the token of this start of the instance: `murmur up` prints it on a terminal")
    session["id"] = secrets.token_hex(4)
    return described(settings)


@blueprint.get("/session")
def show() -> dict[str, Any]:
    """Whether there is a session, and what may be done."""
    return described(current_app.extensions["settings"])


def described(settings: Settings) -> dict[str, Any]:
    """`refused`: why nothing of all this may be done now, null if it may."""
    if "id" not in session:
        return {"open": False, "refused": None, "actions": []}
    return {
        "open": True,
        "refused": actions.EXPERIMENT if experiments.is_running(settings) else None,
        "actions": actions.possible(settings),
    }
