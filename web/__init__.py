"""The HTTP API."""

from __future__ import annotations

from importlib.metadata import version

from apiflask import APIFlask
from flask import Response
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from werkzeug.middleware.proxy_fix import ProxyFix

from common.hosts import refuse_foreign_hosts
from common.security_headers import SECURITY_HEADERS
from common.settings import Settings
from web import (
    events,
    experiments,
    failures,
    hashtag,
    health,
    ledger,
    pipeline,
    problems,
    processes,
    search,
    streams,
    trending,
)
from web.openapi import describe

REDIS_TIMEOUT_S = 1.0
MAX_BODY_BYTES = 64 << 10
"""No request of this API has a body."""


def create_app(settings: Settings | None = None) -> APIFlask:
    """The application of one process, by `settings` or else those of the instance that MURMUR_SETTINGS names.

    It connects to nothing yet: each dependency is met at the first request that needs it, and missed with 503.
    """
    settings = settings or Settings.load()
    app = APIFlask(__name__, title="Murmuration", version=version("murmuration"), docs_path=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.url_map.merge_slashes = False  # an address with more slashes is none of ours, rather than a redirect
    app.json.sort_keys, app.json.ensure_ascii = False, False  # type: ignore[attr-defined]
    redis = Redis.from_url(
        settings.redis_address, retry=Retry(NoBackoff(), 1), decode_responses=True,
        socket_timeout=REDIS_TIMEOUT_S, socket_connect_timeout=REDIS_TIMEOUT_S,
    )
    app.extensions |= {"settings": settings, "redis": redis}
    app.wsgi_app = ProxyFix(app.wsgi_app, x_proto=0)  # type: ignore[method-assign]  # the client is who asks Nginx
    refuse_foreign_hosts(app, settings)
    problems.register(app)
    for feature in (
        trending, hashtag, search, pipeline, streams, ledger, processes, failures, experiments, events, health,
    ):
        app.register_blueprint(feature.blueprint)
    search.register(app)
    events.register(app)
    describe(app)

    @app.after_request
    def secure(response: Response) -> Response:
        for name, value in SECURITY_HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return app
