from collections.abc import Iterator
from pathlib import Path

import pytest

from common.settings import Settings
from search.encoder import Encoder
from tests.search.servers import MilvusServer


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The encoder that set-up made."""
    return Encoder.load(Settings().encoder_dir)


@pytest.fixture
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    folder: Path = tmp_path_factory.mktemp("milvus")
    server = MilvusServer(folder)
    server.start()
    yield server
    server.kill()
