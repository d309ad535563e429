"""How gunicorn serves the API: `gunicorn --config python:web.server --bind 127.0.0.1:<port> "web:create_app()"`."""

from __future__ import annotations

from typing import Any

from common.settings import Settings
from web import history

SPARE_THREADS = 8
"""For everything but event streams, each of which holds a thread."""

wsgi_app = "web:create_app()"
worker_class = "gthread"
workers = 1
threads = Settings.load().web_streams + SPARE_THREADS
graceful_timeout = 3
limit_request_line = 8190
"""The most that gunicorn takes, and a little more than Nginx lets through, which answers 414 as a problem."""
control_socket_disable = True
loglevel = "warning"


def post_worker_init(worker: Any) -> None:
    """Event streams end when the process is told to end; gunicorn would wait for them. The history begins."""
    def alive() -> bool:
        return bool(worker.alive)

    worker.wsgi.extensions["broadcast"].alive = alive
    history.start(worker.wsgi.extensions["redis"], worker.wsgi.extensions["settings"].redis_prefix, alive)
