from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TypeVar

import pytest
import redis

from common.settings import Settings
from common.tweets import ENRICHED, HASHTAG_COUNTS, REJECTED
from consumers.buckets import Buckets
from consumers.runner import Handler
from consumers.trending import Trending
from search.encoder import Encoder
from tests.memory import Memory
from tests.search.servers import MilvusServer, redis_server

H = TypeVar("H", bound=Handler)


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


@pytest.fixture
def buckets(client: redis.Redis) -> Buckets:
    """Complete ones, below `t:`; their marker is `m`."""
    made = Buckets(client, "t:", Settings().rankings_kept_s)
    assert made.begin_rebuild("one")
    assert made.end_rebuild("one", "m")
    return made


@pytest.fixture
def settings(client: redis.Redis, redis_url: str) -> Settings:
    return Settings(redis_url=redis_url, instance="trends")


@pytest.fixture
def start(settings: Settings, memory: Memory, ending) -> Callable[..., Trending]:
    return lambda member="0": ending(Trending(settings, member, lambda _: memory))


@pytest.fixture
def memory(settings: Settings) -> Memory:
    """What consumers read and write."""
    made = Memory(settings)
    for stream, partitions in ((ENRICHED, 1), (HASHTAG_COUNTS, 2), (REJECTED, 1)):
        made.admin.create_stream(stream, partitions)
    return made


@pytest.fixture
def ending() -> Iterator[Callable[[H], H]]:
    """Takes handlers, to be closed when the test ends."""
    with ExitStack() as stack:
        def taken(handler: H) -> H:
            stack.callback(handler.close)
            return handler

        yield taken
