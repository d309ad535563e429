"""A whole Murmuration, started once for each middleware and shared by all tests that need one."""

import re
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings as examples

from middleware.registry import registry
from tests.stack import Stack

DEFAULT, *OTHERS = registry()

examples.register_profile("any machine", deadline=None)  # how long an example takes says nothing on a busy one
examples.load_profile("any machine")

# A shell has what it starts in the background ignore SIGINT, and so would all that the tests start: none could be asked
# to end by it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of `stack` runs on the default middleware; marked, on the others too, or on the others only."""
    if "stack" not in metafunc.fixturenames:
        return
    middlewares: list[Any] = [DEFAULT]
    if mark := metafunc.definition.get_closest_marker("every_middleware"):
        slow = [] if mark.kwargs.get("short") else [pytest.mark.slow]
        middlewares += [pytest.param(name, marks=slow) for name in OTHERS]
    elif metafunc.definition.get_closest_marker("other_middlewares"):
        middlewares = OTHERS
    metafunc.parametrize("stack", middlewares, indirect=True, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """No test is named after the time: processes that share the tests, and begin in two minutes, would not agree."""
    today = f"{time.time():.0f}"[:5]  # of ten digits: 28 hours
    if named := [item.nodeid for item in items if re.search(rf"\b{today}\d{{5}}\b", item.nodeid)]:
        raise pytest.UsageError(f"a test's name tells the time, give it `ids`: {', '.join(named)}")


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """A running instance of its own ports and state, which is gone afterwards."""
    instance = Stack("test-e2e", MURMUR_MIDDLEWARE=request.param)
    with instance.running():
        yield instance
