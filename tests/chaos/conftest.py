from tests.web.conftest import redis, redis_server  # noqa: F401
