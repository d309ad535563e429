import pytest

from common.addresses import masked


@pytest.mark.parametrize(("url", "shown"), [
    ("postgresql+psycopg://murmur:secret@db:5432/tweets", "postgresql+psycopg://murmur:…@db:5432/tweets"),
    ("redis://:secret@cache:6379/0", "redis://:…@cache:6379/0"),
    ("postgresql://user:se@cret:@db/x", "postgresql://user:…@db/x"),
    ("postgresql://db/x?user=a&password=secret&sslmode=off", "postgresql://db/x?user=a&password=…&sslmode=off"),
    ("http://milvus:19530?token=root:secret", "http://milvus:19530?token=…"),
    ("postgresql://user:se/cret@db/x", "postgresql://user:…@db/x"),
    ("sqlite:////home/a@b/tweets.db", "sqlite:////home/a@b/tweets.db"),
    ("http://127.0.0.1:21002", "http://127.0.0.1:21002"),
    ("cannot reach redis://:secret@one/0 nor redis://b:secret@two/0", "cannot reach redis://:…@one/0 nor redis://b:…@two/0"),
])
def test_no_password_is_shown(url: str, shown: str) -> None:
    assert masked(url) == shown
