import traceback

import pytest
import redis
from sqlalchemy.exc import SQLAlchemyError

from common.addresses import masked, spark_is_here
from search.index import Index
from search.store import Store


@pytest.mark.parametrize(("url", "shown"), [
    ("postgresql+psycopg://murmur:secret@db:5432/tweets", "postgresql+psycopg://murmur:…@db:5432/tweets"),
    ("redis://:secret@cache:6379/0", "redis://:…@cache:6379/0"),
    ("postgresql://user:se@cret:@db/x", "postgresql://user:…@db/x"),
    ("postgresql://db/x?user=a&password=secret&sslmode=off", "postgresql://db/x?user=a&password=…&sslmode=off"),
    ("http://milvus:19530?token=root:secret", "http://milvus:19530?token=…"),
    ("postgresql://user:se/cret@db/x", "postgresql://user:…@db/x"),
    ("https://secret@milvus:443/x", "https://…@milvus:443/x"),
    ("https://h/x?pass=secret&a=b", "https://h/x?pass=…&a=b"),
    ("'redis://cache/0?Password=secret': refused", "'redis://cache/0?Password=… refused"),
    ("postgresql://db/x?password=a\"secret'&sslmode=off", "postgresql://db/x?password=…&sslmode=off"),
    ("postgresql://user:a\"secret'@db/x", "postgresql://user:…@db/x"),
    ("https://a'secret@milvus:443/x", "https://…@milvus:443/x"),
    ("postgresql://us@er:secret@db/x", "postgresql://us@er:…@db/x"),
    ("redis://:se/c@ret@cache:6379/0", "redis://:…@cache:6379/0"),
    ("postgresql://user@db/x", "postgresql://user@db/x"),
    ("https://se@cret@milvus/x", "https://…@milvus/x"),
    ("https://h/a@b?q=pass", "https://h/a@b?q=pass"),
    ("sqlite:////home/a@b/tweets.db", "sqlite:////home/a@b/tweets.db"),
    ("http://127.0.0.1:21002", "http://127.0.0.1:21002"),
    ("cannot reach redis://:secret@one/0 nor redis://b:secret@two/0",
     "cannot reach redis://:…@one/0 nor redis://b:…@two/0"),
])
def test_no_password_is_shown(url: str, shown: str) -> None:
    assert masked(url) == shown


@pytest.mark.parametrize(("master", "here"), [
    ("local[*]", True), ("spark://127.0.0.1:7077", True), ("spark://localhost:7077,[::1]:7078", True),
    ("spark://10.0.0.2:7077", False), ("spark://127.0.0.1:7077,10.0.0.2:7077", False), ("yarn", False),
    ("k8s://https://127.0.0.1:6443", False),
])
def test_spark_is_on_this_machine_if_each_of_its_masters_is(master: str, here: bool) -> None:
    """Kubernetes' executors are in a network of their own, wherever its API is."""
    assert spark_is_here(master) == here


SENTINEL = "s3ntinel"


def test_no_client_tells_its_password(caplog: pytest.LogCaptureFixture) -> None:
    """What the clients of the servers say of an address that does not answer, as it goes into logs and answers."""
    nowhere = f"murmur:{SENTINEL}@127.0.0.1:1"
    store = Store(f"postgresql+psycopg://{nowhere}/tweets", 10)
    index = Index(f"http://{nowhere}", "murmur_test", 10)
    told = []
    for call in (store.count, index.count, redis.Redis.from_url(f"redis://{nowhere}/0").ping):
        with pytest.raises((SQLAlchemyError, OSError, redis.RedisError)) as caught:
            call()
        told += traceback.format_exception(caught.value)
    assert SENTINEL not in "".join(told) + caplog.text
