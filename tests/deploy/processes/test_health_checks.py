"""What a probe asks, of a server that is there."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from flask import Flask
from werkzeug.serving import make_server

from common.hosts import refuse_foreign_hosts
from common.settings import Settings
from deploy.local import stack
from deploy.local.processes import health_checks


@pytest.fixture
def server() -> Iterator[str]:
    """URL of one that answers to a single name, which is none of the loopback's."""
    app = Flask(__name__)
    refuse_foreign_hosts(app, Settings(allowed_hosts="tweets.example"))
    app.add_url_rule("/healthz", view_func=lambda: "ok")
    found = make_server("127.0.0.1", 0, app)
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{found.server_port}"
    found.shutdown()
    thread.join()


def test_a_server_is_asked_by_a_name_that_it_answers_to(server: str) -> None:
    assert health_checks.http_ok(f"{server}/healthz", "tweets.example")(0.0)
    with pytest.raises(OSError, match="421"):
        health_checks.http_ok(f"{server}/healthz", "localhost")(0.0)
    with pytest.raises(OSError, match="404"):
        health_checks.http_ok(f"{server}/readyz", "tweets.example")(0.0)


def test_an_instance_is_ready_when_a_push_would_be_published(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(health_checks, "http_ok", lambda url, host: asked.append((url, host)))
    settings = Settings(allowed_hosts="Tweets.example,localhost")
    stack.applications(settings)
    assert {host for _, host in asked} == {"tweets.example"}
    assert f"http://127.0.0.1:{settings.port_base + 3}/readyz" in [url for url, _ in asked]
