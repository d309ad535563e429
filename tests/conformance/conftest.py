"""One suite for every middleware: a new one is one more parameter."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from middleware import connect, registry
from middleware.base import Middleware
from tests.conformance.servers import Servers, running


@pytest.fixture(scope="session", params=registry())
def servers(request: pytest.FixtureRequest) -> Iterator[Servers]:
    """Those of the default middleware stay: other tests use them too."""
    instance = running(request.param)
    yield instance
    if request.param != registry()[0]:
        instance.down()


@pytest.fixture
def middleware(servers: Servers) -> Iterator[Middleware]:
    with connect(servers.settings()) as connection:
        connection.wait_until_ready(60)
        yield connection


@pytest.fixture
def stream(middleware: Middleware) -> str:
    """A stream of two partitions that only this test uses."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    middleware.create_stream(name, 2)
    return name
