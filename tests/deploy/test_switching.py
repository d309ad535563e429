"""One instance on one middleware after the other."""

import pytest

from common.tweets import RAW
from middleware.registry import connect, registry
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow]


def test_each_middleware_keeps_its_own_state():
    instance = Stack("test-switching")
    instance.down()
    try:
        for name in registry():
            instance.murmur("up", "--servers-only", "--middleware", name, timeout=240)
            with connect(instance.settings()) as middleware, middleware.data.producer(RAW) as producer:
                producer.send("key", name.encode())
                producer.flush()
            instance.murmur("down")
        for name in registry():
            instance.murmur("up", "--servers-only", "--middleware", name, timeout=240)
            found: list[bytes] = []
            settings = instance.settings()
            with connect(settings) as middleware, middleware.data.consumer(RAW, "test", start="head") as consumer:
                eventually("the event is read", lambda c=consumer, f=found: f.extend(c.poll(10, 1.0)) or f, 60)
            assert found == [name.encode()]
            assert instance.status()["middleware"] == name
            instance.murmur("down")
    finally:
        instance.down()
