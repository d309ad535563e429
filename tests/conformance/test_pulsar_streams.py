"""A stream on Pulsar is a topic, its partitions and what is noted of them: who makes it may not be alone."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from middleware.driver import Middleware
from tests.conformance.reading import numbered, publish
from tests.conformance.servers import Servers

pytestmark = [pytest.mark.only("pulsar"), pytest.mark.timeout(240)]

MAKERS, STREAMS = 3, 20


def origins(middleware: Middleware, stream: str) -> Any:
    data: Any = middleware.data
    return data.streams.describe(stream).origins


def test_who_makes_a_stream_later_moves_no_origin(middleware: Middleware, servers: Servers) -> None:
    """What was published before that would be hidden. And the broker may say that a stream is there before it shows
    it: about one in twenty, so many are made."""
    with ExitStack() as stack, ThreadPoolExecutor(MAKERS) as threads:
        makers = [stack.enter_context(servers.connect()) for _ in range(MAKERS)]
        together = threading.Barrier(MAKERS)

        def make(own: Middleware, stream: str) -> Any:
            together.wait(60)
            own.admin.create_stream(stream, 2)
            return origins(own, stream)

        for _ in range(STREAMS):
            stream = f"test-{uuid.uuid4().hex[:12]}"
            told = list(threads.map(make, makers, [stream] * MAKERS))
            assert told == [origins(middleware, stream)] * MAKERS
            publish(middleware, stream, numbered(0, 10))


def test_a_stream_is_made_on_where_it_was_begun(middleware: Middleware) -> None:
    """By whoever was killed when it had some of its partitions, and the origin of one."""
    data: Any = middleware.data
    whole = f"test-{uuid.uuid4().hex[:12]}"
    middleware.admin.create_stream(whole, 3)
    before = origins(middleware, whole)
    rest, path = data.streams._rest, data.streams._path(whole)
    rest.ask("DELETE", f"{path}/properties?key=origin.0")
    rest.ask("DELETE", f"{path}/properties?key=origin.1")
    rest.ask("DELETE", f"{data.streams._path(whole, 1)}?force=true")
    middleware.admin.create_stream(whole, 3)
    assert origins(middleware, whole)[2] == before[2]
    publish(middleware, whole, numbered(0, 10))
