from collections.abc import Iterator

import pytest
import redis

from common.search.encoder import Encoder
from common.settings import Settings
from tests.common.search.servers import MilvusServer, redis_server


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The encoder that set-up made."""
    return Encoder.load(Settings().encoder_dir)


@pytest.fixture
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    server = MilvusServer(tmp_path_factory.mktemp("milvus"))
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def client(redis_url: str) -> redis.Redis:
    """An empty Redis."""
    connected = redis.Redis.from_url(redis_url, decode_responses=True)
    connected.flushall()
    return connected
