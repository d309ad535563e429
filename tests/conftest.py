"""A whole Murmuration, started once for each middleware and shared by all tests that need one."""

import signal
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


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """A running instance of its own ports and state, which is gone afterwards."""
    instance = Stack("test-e2e", MURMUR_MIDDLEWARE=request.param)
    with instance.running():
        yield instance
