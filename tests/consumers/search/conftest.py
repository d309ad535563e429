"""The search consumer, on a real Milvus Lite, Redis and SQLite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from common.settings import Settings
from consumers.search import Search
from tests.memory import Memory
from tests.search.servers import MilvusServer


@pytest.fixture
def settings(tmp_path: Path, milvus: MilvusServer, redis_url: str) -> Settings:
    return Settings(
        redis_url=redis_url, milvus_uri=milvus.uri, database_url=f"sqlite:///{tmp_path / 'tweets.db'}",
        index_max_rows=100, instance="test",
    )


@pytest.fixture
def make(settings: Settings, memory: Memory, ending) -> Callable[[], Search]:
    return lambda: ending(Search(settings, "0", lambda _: memory))
