"""Each process of an instance is killed while tweets are on their way, on every middleware (tests/e2e/kills.py)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from middleware.registry import registry
from tests.e2e.kills import kill_each
from tests.stack import Stack

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(5400)]


@pytest.fixture(params=registry())
def instance(request: pytest.FixtureRequest) -> Iterator[Stack]:
    instance = Stack(
        f"test-killed-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_INDEX_MAX_ROWS="1000000",
    )
    with instance.running():
        yield instance


def test_each_process_is_killed_and_every_tweet_is_there_once(instance: Stack) -> None:
    kill_each(instance, sorted(instance.pids()), instance.kill)
