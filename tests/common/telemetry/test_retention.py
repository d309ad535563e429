"""The shares are read as written, and unknown once they are old."""

import pytest
import redis

from common.telemetry import retention
from middleware.registry import registry
from tests.conformance.servers import running

pytestmark = pytest.mark.server


def test_shares_are_replaced_and_expire():
    settings = running(registry()[0]).settings()
    client = redis.Redis.from_url(settings.redis_address, decode_responses=True)
    prefix = "test-retention:"
    retention.write(client, prefix, {"enrich": 0.25, "trending": 1.5})
    assert retention.read(client, prefix) == {**retention.unknown(), "enrich": 0.25, "trending": 1.5}
    assert 0 < client.ttl(retention.key(prefix)) <= retention.EXPIRY_S
    retention.write(client, prefix, {"trending": 0.5})
    assert retention.read(client, prefix) == {**retention.unknown(), "trending": 0.5}
    retention.write(client, prefix, {})
    assert retention.read(client, prefix) == retention.unknown()
