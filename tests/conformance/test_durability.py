"""What an acknowledgement means is what the server does: its calls of fsync are counted under load."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from common.settings import Durability
from common.tweets import RAW
from deploy.local.middlewares import deployment
from middleware.driver import Middleware
from middleware.nats.connection import Connection
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
def test_a_published_group_costs_hardly_more_syncs_than_an_event(
    middleware: Middleware, stream: str, servers: Servers, tmp_path: Path
) -> None:
    (pid, *_) = servers.pids()[deployment(middleware.settings.middleware).syncing]
    with middleware.data.producer(stream) as producer:
        producer.send("k", b"first")
        producer.flush()

        def load() -> None:
            for number in range(1000):
                producer.send("k", b"%d" % number)
            producer.flush()

        assert 1 <= count_syncs(pid, tmp_path, load) <= 50


@pytest.mark.slow
def test_in_class_page_cache_acknowledgements_do_not_wait_for_the_disk(
    stream: str, relaxed: Servers, tmp_path: Path
) -> None:
    in_force, count = syncs(relaxed, stream, tmp_path)
    assert in_force == "page-cache"
    assert count < EVENTS / 5
    assert relaxed.status()["durability"] == "page-cache"


@pytest.mark.only("nats")
def test_a_stream_that_puts_off_its_syncs_is_not_of_class_fsync(middleware: Middleware, servers: Servers) -> None:
    """Although the server syncs each event: a stream of NATS may say otherwise, though none of ours does."""
    assert middleware.admin.durability_in_force() == "fsync"
    name = f"{middleware.settings.namespace}_{RAW}_late"
    with closing(Connection(middleware.settings)) as connection:
        connection.ask(f"STREAM.CREATE.{name}", name=name, subjects=[f"{middleware.settings.namespace}.{RAW}.late.>"],
                       storage="file", num_replicas=1, persist_mode="async")
        try:
            assert middleware.admin.durability_in_force() == "page-cache"
        finally:
            connection.ask(f"STREAM.DELETE.{name}")
