"""What an acknowledgement means is what the server does: its calls of fsync are counted under load."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from common.settings import Durability
from deploy.local.middlewares import deployment
from middleware.driver import Middleware
from middleware.registry import connect
from tests.conformance.servers import Servers
from tests.conformance.syscalls import count_syncs

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

EVENTS = 100


@pytest.fixture
def relaxed(servers: Servers) -> Iterator[Servers]:
    """The same servers in the class `page-cache`, over the same data; afterwards as they were."""
    servers.again("page-cache")
    yield servers
    servers.again("fsync")


def syncs(servers: Servers, stream: str, folder: Path) -> tuple[Durability | None, int]:
    """The class in force, and how often the server syncs while EVENTS are acknowledged one by one."""
    with connect(servers.settings()) as middleware, middleware.data.producer(stream) as producer:
        producer.send("k", b"first")
        producer.flush()

        def load() -> None:
            for number in range(EVENTS):
                producer.send("k", b"%d" % number)
                producer.flush()

        (pid, *_) = servers.pids()[deployment(middleware.settings.middleware).syncing]
        return middleware.admin.durability_in_force(), count_syncs(pid, folder, load)


@pytest.mark.slow
def test_in_class_fsync_every_event_is_synced_before_it_is_acknowledged(
    middleware: Middleware, stream: str, servers: Servers, tmp_path: Path
) -> None:
    in_force, count = syncs(servers, stream, tmp_path)
    assert in_force == "fsync"
    assert count >= EVENTS
    assert servers.status()["durability"] == "fsync"


@pytest.mark.slow
def test_in_class_page_cache_acknowledgements_do_not_wait_for_the_disk(
    stream: str, relaxed: Servers, tmp_path: Path
) -> None:
    in_force, count = syncs(relaxed, stream, tmp_path)
    assert in_force == "page-cache"
    assert count < EVENTS / 5
    assert relaxed.status()["durability"] == "page-cache"
