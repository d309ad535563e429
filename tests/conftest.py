"""A whole Murmuration, started once and shared by all tests that need one."""

from collections.abc import Iterator

import pytest

from tests.stack import Stack


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """A running instance of its own ports and state, which is gone afterwards."""
    instance = Stack("test-e2e")
    try:
        instance.up()
        yield instance
    finally:
        instance.down()
