"""One suite for every middleware: a new one is one more parameter."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from middleware.driver import Middleware
from middleware.registry import registry
from tests.conformance.servers import InMemory, Servers, running


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of `servers` runs on every middleware; marked, in memory too, or on one of them only."""
    if "servers" not in metafunc.fixturenames:
        return
    only = metafunc.definition.get_closest_marker("only")
    names: list[Any] = [pytest.param(name, marks=pytest.mark.server) for name in (only.args if only else registry())]
    if not only and metafunc.definition.get_closest_marker("in_memory_too"):
        names.append("memory")
    metafunc.parametrize("servers", names, indirect=True, scope="session")


@pytest.fixture(scope="session")
def servers(request: pytest.FixtureRequest) -> Iterator[Servers | InMemory]:
    """Those of the default middleware stay: other tests use them too."""
    if request.param == "memory":
        yield InMemory()
        return
    instance = running(request.param)
    yield instance
    if request.param != registry()[0]:
        instance.down()


@pytest.fixture
def middleware(servers: Servers | InMemory) -> Iterator[Middleware]:
    with servers.connect() as connection:
        connection.admin.wait_until_ready(60)
        yield connection


@pytest.fixture
def stream(middleware: Middleware) -> str:
    """A stream of two partitions that only this test uses."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    middleware.admin.create_stream(name, 2)
    return name
