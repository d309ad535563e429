"""Which names a server of ours answers to: a page elsewhere must not reach it by a name of its own for 127.0.0.1."""

from __future__ import annotations

import re

from flask import Flask, request
from werkzeug.exceptions import MisdirectedRequest

from common.settings import Settings

HOST = re.compile(r"(\[[^\[\]]*\]|[^:]*)(?::\d*)?")
"""The header `Host`: a name or an address, IPv6 in brackets, and perhaps a port."""


FOREIGN = "this server does not answer to that Host name; the setting `allowed_hosts` lists those it answers to"


def refuse_foreign_hosts(app: Flask, settings: Settings) -> None:
    """Has `app` answer 421 whatever is asked under a Host name that is not one of `allowed_hosts`; ports are free."""
    allowed = set(settings.host_names)

    @app.before_request
    def refuse() -> None:
        host = HOST.fullmatch(request.headers.get("Host", ""))
        if not host or host[1].lower() not in allowed:
            raise MisdirectedRequest(FOREIGN)
