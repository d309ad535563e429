"""An ingester over a middleware in memory, and the servers of the tests that need some."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from common.settings import Settings
from ingest.manifest import ManifestWriter
from ingest.publisher import Publisher
from middleware.registry import registry
from tests.conformance.servers import Servers, running
from tests.ingest.over_memory import RUN, memory, settings_in
from tests.memory import Memory


@pytest.fixture(scope="session")
def servers() -> Servers:
    return running(registry()[0])


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_in(tmp_path)


@pytest.fixture
def middleware(settings: Settings) -> Memory:
    return memory(settings)


@pytest.fixture
def publisher(settings: Settings, middleware: Memory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    """Of a run that begins, and soon gives up."""
    monkeypatch.setattr("ingest.publisher.FIRST_WAIT_SECONDS", 0.001)
    with Publisher(settings, middleware, ManifestWriter.create(settings, RUN, "test", {}), patience_s=0.05) as made:
        yield made
