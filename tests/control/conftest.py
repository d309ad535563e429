"""The controls of an instance with a process manager of its own, asked as Nginx does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from common import control
from common.settings import Port, Settings
from control import create_app
from tests.deploy.conftest import Start, start  # noqa: F401
from tests.deploy.processes.supervised import running
from tests.stack import eventually
from tests.web.conftest import free_port

Ask = Callable[..., TestResponse]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = Settings(home=tmp_path, instance="one", port_base=free_port() - Port.REDIS, ingest_token="t0ken")
    found.log_dir.mkdir(parents=True)
    control.make(found)
    return found


@pytest.fixture
def instance(settings: Settings, start: Start) -> Settings:  # noqa: F811
    """One of Redis and a process that stores nothing."""
    server = f"exec redis-server --port {settings.port(Port.REDIS)} --save '' --dir {settings.instance_dir}"
    start(redis=server, nginx="exec sleep 300")
    eventually("both run", lambda: running(settings) == {"redis", "nginx"}, 30)
    return settings


@pytest.fixture
def app(settings: Settings) -> Flask:
    return create_app(settings)


@pytest.fixture
def ask(app: Flask, settings: Settings) -> Ask:
    """Asks as the page does; `headers` are over its own, and None leaves one out."""
    client: FlaskClient = app.test_client()
    host = settings.url.removeprefix("http://")

    def ask(path: str, body: Any = None, method: str = "POST", **headers: str | None) -> TestResponse:
        own = {"Host": host, "Origin": f"http://{host}", **headers}
        return client.open(f"http://{host}/control/{path}", method=method, json=body,
                           headers={name: value for name, value in own.items() if value is not None})

    return ask


@pytest.fixture
def opened(ask: Ask, settings: Settings) -> Ask:
    """The same with a session. It needs nothing to run."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("control.actions.names", lambda settings: [])
        assert ask("session", {"token": control.token_file(settings).read_text()}).status_code == 200
    return ask
