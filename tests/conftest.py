"""A whole Murmuration, started once for each middleware and shared by all tests that need one."""

from collections.abc import Iterator

import pytest

from middleware import registry
from tests.stack import Stack

DEFAULT, *OTHERS = registry()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of `stack` runs on the default middleware; with the mark `every_middleware`, on the others as well."""
    if "stack" not in metafunc.fixturenames:
        return
    mark = metafunc.definition.get_closest_marker("every_middleware")
    slow = [pytest.mark.slow] if mark and mark.kwargs.get("slow") else []
    others = [pytest.param(name, marks=slow) for name in OTHERS] if mark else []
    metafunc.parametrize("stack", [DEFAULT, *others], indirect=True, scope="session")


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """A running instance of its own ports and state, which is gone afterwards."""
    instance = Stack("test-e2e", MURMUR_MIDDLEWARE=request.param)
    try:
        instance.up()
        yield instance
    finally:
        instance.down()
