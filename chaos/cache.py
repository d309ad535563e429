"""Takes from an instance all that it has in Redis."""

from __future__ import annotations

from chaos.connection import connected
from common.settings import Settings
from common.telemetry.failures import FAILURES

FLUSH = """
local keys = redis.call('KEYS', ARGV[1] .. '*')
for _, key in ipairs(keys) do
  if key ~= ARGV[1] .. ARGV[2] then
    redis.call('UNLINK', key)
  end
end
"""
"""In one step: what is made anew in between must not go with the rest. ARGV: prefix, what is kept below it."""


FLUSH_S = 30.0
"""In which Redis has done it, whatever it holds."""


def flush(settings: Settings) -> None:
    """Of that instance alone, since others may share a Redis elsewhere; what is told of failures stays. Raises
    RedisError."""
    with connected(settings, FLUSH_S) as client:
        client.eval(FLUSH, 0, settings.redis_prefix, FAILURES)
